/** The support desk: its customers, its rules, its reward, and its two SDKs that a clone has. tests/clients holds the third. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Message, ToolCall } from '../../../src/core/messages.ts';
import { Rng } from '../../../src/core/rng.ts';
import type { Agent } from '../../../src/env/agent.ts';
import { talkWith } from '../../../src/env/user/talk.ts';
import { Gateway } from '../../../src/server/gateway/gateway.ts';
import { forgives, holds } from '../../../tests/desk-episodes.ts';
import { agent as aiSdk } from './ai-sdk.ts';
import { customer } from './customer.ts';
import { type Database, type Order, type Request, requestsOf, shop } from './customers.ts';
import { agent as responses } from './openai-responses.ts';
import { isSettled, settle, settled } from './rules.ts';
import { teach } from './teacher.ts';
import { type Desk, tools, use } from './tools.ts';

const all = (['train', 'validation', 'test'] as const).flatMap((split) => requestsOf(split));

describe('customers', () => {
  test('there are 6,000, each in one split', () => {
    const splits = (['train', 'validation', 'test'] as const).map((split) => requestsOf(split).length);
    expect(splits).toEqual([5840, 40, 120]);
    expect(new Set(all.map(({ customer }) => customer)).size).toBe(6000);
    expect(new Set(all.map(({ order }) => order)).size).toBe(6000);
  });

  test('own the orders that they write about, each of another item', () => {
    expect(Object.values(shop.customers).flat()).toEqual(Object.keys(shop.orders));
    for (const { customer, order, item, items } of all) {
      const own = shop.customers[customer]!;
      expect(own).toContain(order);
      expect(shop.orders[order]!.item).toBe(item);
      expect(own.map((number) => shop.orders[number]!.item).sort()).toEqual([...items].sort());
      expect(items).toHaveLength(new Set(items).size);
    }
  });

  test('call for each way to settle a request equally often, in every split', () => {
    for (const split of ['train', 'validation', 'test'] as const) {
      const ways = requestsOf(split).map((request) => {
        const { name, arguments: given } = settle(request);
        return `${name} ${given.reason ?? ''}`.trim();
      });
      const counts = [...new Set(ways)].map((way) => [way, ways.filter((one) => one === way).length]);
      const each = ways.length / 5;
      expect(Object.fromEntries(counts)).toEqual({
        refund: each,
        change_address: each,
        'escalate late': each,
        'escalate expensive': each,
        'escalate shipped': each,
      });
    }
  });

  test('held-out customers use no word that training never shows', () => {
    const wordsOf = ({ price, status, days }: Order): string => `${price} ${status} ${days}`;
    const words = (requests: readonly Request[]): Set<string> =>
      new Set(
        requests.flatMap(({ customer, opening, items, address }) =>
          [
            opening,
            address,
            ...items,
            ...shop.customers[customer]!.map((number) => wordsOf(shop.orders[number]!)),
          ]
            .join(' ')
            .split(' '),
        ),
      );
    const known = words(requestsOf('train'));
    expect([...words(requestsOf('test'))].filter((word) => !known.has(word))).toEqual([]);
  });
});

describe('the reward', () => {
  const request = all.find((one) => settle(one).name === 'refund')!;
  const right: Database = settled(request);
  const order = right.orders[request.order]!;

  test('is for the database as the rules want it', () => {
    expect(isSettled(request, right)).toBe(true);
    expect(order.refunded).toBe(true);
  });

  test.each<[string, Database]>([
    ['nothing was done', shop],
    ['nothing but the filing', { ...shop, cases: right.cases }],
    ['the filing is wrong', { ...right, cases: [{ customer: request.customer, kind: 'address' }] }],
    ['it was filed twice', { ...right, cases: [...right.cases, ...right.cases] }],
    [
      'a colleague was bothered as well',
      { ...right, escalations: [{ order: request.order, reason: 'late' }] },
    ],
    [
      'the address was changed as well',
      { ...right, orders: { ...right.orders, [request.order]: { ...order, address: 'oak road nowhere' } } },
    ],
    [
      'a stranger was refunded as well',
      {
        ...right,
        orders: {
          ...right.orders,
          [all.at(-1)!.order]: { ...shop.orders[all.at(-1)!.order]!, refunded: true },
        },
      },
    ],
  ])('is not where %s', (_case, database) => {
    expect(isSettled(request, database)).toBe(false);
  });
});

test('the expert settles the request of every fifth customer', async () => {
  for (const task of all.filter((_, index) => index % 5 === 0)) {
    const desk: Desk = { customer: task.customer, database: shop };
    const kind = JSON.parse(say(task, [], []).content) as { kind: string };
    desk.database = { ...shop, cases: [{ customer: task.customer, ...kind }] };
    const person = talkWith(customer, task, async (messages) => {
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      const said = turn === 0 ? undefined : messages.at(-1)!.content;
      return (
        (await customer.script?.({ task, facts: {}, said, turn, messages, rng: Rng.of('user') })) ?? '[END]'
      );
    });
    const messages: Message[] = [];
    for (let words = await person.reply(); words !== undefined; ) {
      messages.push({ role: 'user', content: words });
      for (;;) {
        const answer = say(
          task,
          messages,
          tools.map(({ name }) => name),
        );
        messages.push(answer);
        const calls = answer.toolCalls ?? [];
        for (const { id, name, arguments: given } of calls)
          messages.push({ role: 'tool', toolCallId: id, content: await use(desk, name, given) });
        if (calls.length > 0) continue;
        words = await person.reply(answer.content);
        break;
      }
    }
    expect([task.customer, isSettled(task, desk.database)]).toEqual([task.customer, true]);
  }
});

function say(task: Request, messages: readonly Message[], tools: readonly string[]): Message {
  const { content = '', toolCalls = [] } = teach({
    task,
    messages,
    tools,
    role: 'agent',
    player: 'expert',
    rng: Rng.of('expert'),
  }) as { content?: string; toolCalls?: Omit<ToolCall, 'id'>[] };
  return {
    role: 'assistant',
    content,
    ...(toolCalls.length > 0 && { toolCalls: toolCalls.map((call, id) => ({ id: String(id), ...call })) }),
  };
}

describe.each([aiSdk, responses].map((agent) => [agent.name, agent as unknown as Agent] as const))(
  '%s',
  (_name, agent) => {
    let gateway: Gateway;
    beforeAll(async () => {
      gateway = await new Gateway().start();
    });
    afterAll(() => gateway.stop());

    test('settles every kind of request, with all sampled tokens in the record', { timeout: 120_000 }, () =>
      holds(agent, gateway),
    );

    test('loses no episode to a mistake of the policy', { timeout: 120_000 }, async () => {
      const ends = await forgives(agent, gateway);
      expect(ends['an unknown tool']).toBe('done 1');
      expect(ends['a filing of another form']).toBe('done 0');
    });
  },
);
