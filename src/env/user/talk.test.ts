/** The conversation of a simulated user: what a model reads that plays it, who spoke, and how it ends. */

import { describe, expect, test } from 'vitest';
import type { Message } from '../../core/messages.ts';
import { simulateUser } from './simulate-user.ts';
import { instructionsOf, talkWith } from './talk.ts';

const guest = simulateUser<{ nights: number }>({
  persona: ({ nights }) => `You book a room for ${nights} nights.`,
  facts: ({ nights }) => ({ nights, name: 'Ada' }),
  policy: 'openai:http://localhost/v1#model',
});
const task = { nights: 2 };

function talk(...answers: readonly string[]) {
  const read: (readonly Message[])[] = [];
  const said = [...answers];
  const user = talkWith(guest, task, async (messages) => {
    read.push(messages);
    return said.shift()!;
  });
  return { user, read };
}

describe('a simulated user', () => {
  test('is told who it is, what it knows, and how to end', () => {
    expect(instructionsOf(guest, task)).toMatchInlineSnapshot(`
      "You book a room for 2 nights.
      You write to an assistant. Write only your own words, one or two sentences at a time.
      You know the following. Tell it when you are asked; invent nothing else:
      - nights: 2
      - name: Ada
      When your request is settled or refused, answer with [END] and nothing else."
    `);
    const plain = simulateUser({ persona: 'You are Ada.', policy: () => 'hello' });
    expect(instructionsOf(plain, null)).not.toContain('You know');
  });

  test('is the assistant of its own conversation, which grows', async () => {
    const { user, read } = talk('a room', 'two');
    expect([await user.reply(), await user.reply('For how long?')]).toEqual(['a room', 'two']);
    expect(read[1]!.map(({ role, content }) => [role, content])).toEqual([
      ['system', instructionsOf(guest, task)],
      ['user', 'Hello, how can I help you?'],
      ['assistant', 'a room'],
      ['user', 'For how long?'],
    ]);
    expect(read[1]!.slice(0, 2)).toEqual(read[0]);
  });

  test('ends the conversation once, and is not asked again', async () => {
    const { user, read } = talk('a room', ' [END] ');
    await user.reply();
    expect([await user.reply('No.'), await user.reply('Still there?')]).toEqual([undefined, undefined]);
    expect(read).toHaveLength(2);
  });

  test('may end with last words', async () => {
    const { user } = talk('Ada, thanks. [END]');
    expect([await user.reply('Your name?'), await user.reply('Bye.')]).toEqual(['Ada, thanks.', undefined]);
  });

  test('hears silence as such, and one thing after another', async () => {
    const { user, read } = talk('a', 'b');
    expect(await Promise.all([user.reply(''), user.reply('next')])).toEqual(['a', 'b']);
    expect(read.map((messages) => messages.at(-1)!.content)).toEqual(['(silence)', 'next']);
  });

  test('that was not answered may be asked again', async () => {
    let asked = 0;
    const user = talkWith(guest, task, async () => {
      if (asked++ === 0) throw new Error('away');
      return 'here';
    });
    await expect(user.reply()).rejects.toThrow('away');
    expect(await user.reply()).toBe('here');
  });
});

test.each([
  ['persona', { persona: 7 }],
  ['facts', { facts: 'none' }],
  ['policy', { policy: 'gpt-5' }],
  ['temperature', { temperature: -1 }],
])('a simulated user with an unusable %s', (part, wrong) => {
  const definition = { persona: 'You are Ada.', policy: () => 'hello', ...wrong };
  expect(() => simulateUser(definition as never)).toThrow(part);
});
