/** The desk's four tools over the database, and what becomes of a call: the same for every SDK. */

import { z } from 'turnwise';
import { defineTool, type Tool } from 'turnwise/env';
import type { Database, Order } from './customers.ts';

/** One episode: the customer who has signed in, and the database, of which each change makes another value. */
export interface Desk {
  readonly customer: string;
  database: Database;
}

const REASONS = ['late', 'expensive', 'shipped'] as const;

const item = z.string().describe('What the customer ordered, one word');

const find = defineTool({
  name: 'find_order',
  description: 'An order of this customer: its price, and where it is.',
  parameters: z.object({ item }),
  run: ({ item }, desk: Desk) => {
    const { price, status, days } = desk.database.orders[orderOf(desk, item)]!;
    return `${item} price ${price} ${status} ${days} days ago`;
  },
});

const refund = defineTool({
  name: 'refund',
  description: 'Pays the price of an order back.',
  parameters: z.object({ item }),
  run: ({ item }, desk: Desk) => {
    change(desk, item, { refunded: true });
    return 'refunded';
  },
});

const changeAddress = defineTool({
  name: 'change_address',
  description: 'Sends an order to another address.',
  parameters: z.object({ item, address: z.string().describe('Street') }),
  run: ({ item, address }, desk: Desk) => {
    change(desk, item, { address });
    return 'changed';
  },
});

const escalate = defineTool({
  name: 'escalate',
  description: 'Hands an order over to a colleague, with the reason.',
  parameters: z.object({ item, reason: z.enum(REASONS) }),
  run: ({ item, reason }, desk: Desk) => {
    const order = orderOf(desk, item);
    const { escalations } = desk.database;
    desk.database = { ...desk.database, escalations: [...escalations, { order, reason }] };
    return 'escalated';
  },
});

export const tools: readonly Tool<Desk>[] = [find, refund, changeAddress, escalate];

/** JSON Schema of a tool's arguments, for SDKs that take one. */
export const schemaOf = ({ parameters }: Tool<Desk>): Record<string, unknown> & { type: 'object' } => {
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: 'input' });
  return { ...schema, type: 'object' };
};

/**
 * Run a call as the policy wrote it. Its mistakes are answers that it reads: an unknown tool or order, arguments that are
 * missing or of another form.
 *
 * @param written arguments, or their JSON
 */
export async function use(desk: Desk, name: string, written: unknown): Promise<string> {
  const tool = tools.find((one) => one.name === name);
  if (!tool) return `there is no tool ${name}`;
  let given = written;
  try {
    if (typeof written === 'string') given = JSON.parse(written);
  } catch {
    return 'the arguments are not JSON';
  }
  const checked = tool.parameters.safeParse(given);
  if (!checked.success) {
    const { path, message } = checked.error.issues[0]!;
    return `wrong arguments ${path.join('.')} ${message}`;
  }
  try {
    return await tool.run(given, desk);
  } catch (error) {
    if (error instanceof UnknownOrder) return error.message;
    throw error;
  }
}

class UnknownOrder extends Error {}

/** The number of the customer's order of this item. */
function orderOf({ customer, database }: Desk, item: string): string {
  const own = database.customers[customer] ?? [];
  const found = own.find((number) => database.orders[number]!.item === item);
  if (found === undefined) throw new UnknownOrder('there is no such order');
  return found;
}

function change(desk: Desk, item: string, changes: Partial<Order>): void {
  const number = orderOf(desk, item);
  const { orders } = desk.database;
  desk.database = { ...desk.database, orders: { ...orders, [number]: { ...orders[number]!, ...changes } } };
}
