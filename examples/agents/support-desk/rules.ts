/** The rules of the shop: what settles a request, how the database stands afterwards, and what an episode was worth. */

import { isDeepStrictEqual } from 'node:util';
import { type Database, type Order, type Request, shop } from './customers.ts';

/** What the assistant is told. */
export const RULES = [
  'you are the support desk of a shop',
  'look an order up before you act on it',
  'refund what was delivered at most 30 days ago for at most 100',
  'escalate the rest as late or expensive',
  'change the address while an order is packed and escalate it as shipped afterwards',
  'ask for what you do not know and say when it is done',
].join(' . ');

/** What the first step is told, which files the request. */
export const FILING = 'file the request as refund or address';

export interface Settling {
  readonly name: 'refund' | 'change_address' | 'escalate';
  readonly arguments: Readonly<Record<string, string>>;
}

/** The one call that changes the database as the rules say. */
export function settle({ kind, order, item, address }: Request): Settling {
  const { status, days, price } = shop.orders[order] as Order;
  const escalate = (reason: string): Settling => ({ name: 'escalate', arguments: { item, reason } });
  if (kind === 'address') {
    return status === 'packed'
      ? { name: 'change_address', arguments: { item, address } }
      : escalate('shipped');
  }
  if (days > 30) return escalate('late');
  return price > 100 ? escalate('expensive') : { name: 'refund', arguments: { item } };
}

/** The database as it should stand at the end. */
export function settled(request: Request): Database {
  const { customer, kind, order, address } = request;
  const { name, arguments: given } = settle(request);
  const changes = { refund: { refunded: true }, change_address: { address }, escalate: {} }[name];
  return {
    customers: shop.customers,
    cases: [{ customer, kind }],
    orders: { ...shop.orders, [order]: { ...(shop.orders[order] as Order), ...changes } },
    escalations: name === 'escalate' ? [{ order, reason: given.reason! }] : [],
  };
}

/** Whether the database is as it should be, in every record. */
export const isSettled = (request: Request, database: Database): boolean =>
  isDeepStrictEqual(database, settled(request));
