/** What turns added where contexts rewrite what was said: each turn is read as the policy read and wrote it. */

import { expect, test } from 'vitest';
import type { Call, Episode } from '../../core/episode.ts';
import { assistant, user } from '../../core/messages.ts';
import { promptOf } from '../../core/sample.ts';
import { madeCall, madeEpisode, madeTransition } from '../../core/testing/made-episodes.ts';
import type { Row } from '../../data/row.ts';
import { full, latest } from '../../rollout/context/contexts.ts';
import { lastTurns } from '../../rollout/context/last-turns.ts';
import { play, player, renderer } from '../../rollout/context/searching.test-helper.ts';
import { summary } from '../../rollout/context/summary.ts';
import { prefixRewards, rewardAfter } from './prefix-rewards.test-helper.ts';
import { rewardsAlong, sequencesOf } from './reward-reader.ts';
import { type Reading, readRoles } from './turns-read.ts';

async function read(rows: readonly Row[]): Promise<Reading[]> {
  const sequences = rows.flatMap((row) => sequencesOf(row, renderer, 500));
  const rewards = await rewardsAlong(prefixRewards, sequences);
  return sequences.map(({ tokens, cut }, index) => ({ reward_K1: rewards[index]!, tokens, cut }));
}

/** The rewards of the first prompt, and of what was read and written up to each turn. */
function rewardsOfTurns({ calls, transitions }: Episode): number[] {
  const act = (id: number | undefined) => calls.find((call) => call.id === id)!;
  const opening = rewardAfter(promptOf(act(transitions[0]!.call), calls));
  return [
    opening,
    ...transitions.map(({ call }) => rewardAfter([...promptOf(act(call), calls), ...act(call).ids])),
  ];
}

test.each([
  ['all turns', full, {}, 1],
  ['the latest turn', latest, {}, 8],
  ['the last turns', lastTurns, { turns: 2, every: 1 }, 6],
  ['a summary', summary, { threshold: 30, instruction: 'summarize what mattered' }, 3],
] as const)('%s: each turn is paid the rise that it brought', async (_name, context, options, count) => {
  const { policy } = player();
  const episode = await play(context, options, policy);
  const [roles] = await readRoles([episode], read);
  const { conversations, rises_K } = roles!.agent!;
  expect(conversations).toHaveLength(count);
  const rewards = rewardsOfTurns(episode);
  expect(rises_K).toEqual(rewards.slice(1).map((reward, k) => reward - rewards[k]!));
  expect(rises_K.reduce((sum, rise) => sum + rise, 0)).toBe(rewards.at(-1)! - rewards[0]!);
  expect(conversations.at(-1)!.reward_K1.at(-1)).toBe(rewards.at(-1));
});

/** A call that answers `question`, or something else. */
const call = (id: number, text: string, more: Partial<Call> = {}) =>
  madeCall(id, 1, { text, messages: [user('question')], ...more });

test('a turn is read after what it read itself, not where its answer is shown again in between', async () => {
  const calls = [
    call(0, 'search'),
    // Asked about it, after as many messages as before it.
    call(1, 'note', { parts: [user('summarize'), { call: 0 }, user('now')] }),
    call(2, 'left', { messages: [user('r1')], parent: 0 }),
  ];
  const episode = madeEpisode(0, calls, [madeTransition(0), madeTransition(2)]);
  const [roles] = await readRoles([episode], read);
  const [, own] = roles!.agent!.conversations;
  expect(roles!.agent!.conversations).toHaveLength(2);
  expect(roles!.agent!.rises_K).toEqual([1, 2].map((k) => own!.reward_K1[k]! - own!.reward_K1[k - 1]!));
});

test('an example of an answer belongs to the opening that the first turn went on from', async () => {
  const messages = [user('question'), assistant('found'), user('now')];
  const calls = [call(0, 'search', { messages }), call(1, 'left', { messages: [user('r1')], parent: 0 })];
  const episode = madeEpisode(0, calls, [madeTransition(0), madeTransition(1)]);
  const [roles] = await readRoles([episode], read);
  const { conversations, rises_K } = roles!.agent!;
  const [opening, , first, second] = conversations[0]!.reward_K1;
  expect(rises_K).toEqual([first! - opening!, second! - first!]);
});

test('what a role said without a turn is one', async () => {
  const [roles] = await readRoles([madeEpisode(0, [call(0, 'search')], [])], read);
  const { conversations, rises_K } = roles!.agent!;
  const [before, after] = conversations[0]!.reward_K1;
  expect(rises_K).toEqual([after! - before!]);
});

test('a turn without an answer brought nothing, and the others are paid as ever', async () => {
  const calls = [call(0, 'search'), call(1, 'left', { parts: [user('r1')] })];
  const turns = [madeTransition(0), madeTransition(undefined), madeTransition(1)];
  const [roles] = await readRoles([madeEpisode(0, calls, turns)], read);
  const [first, nothing, last] = roles!.agent!.rises_K;
  const [one, two] = await read(
    [0, 1].map((id) => conversation(id === 0 ? 'question' : 'r1', calls[id]!.text)),
  );
  expect(nothing).toBe(0);
  expect(first).toBe(one!.reward_K1[1]! - one!.reward_K1[0]!);
  expect(last).toBe(two!.reward_K1[1]! - one!.reward_K1[1]!);
});

test('roles and episodes are told apart; a role that said nothing is not there', async () => {
  const [asker, helper] = ['asker', 'helper'];
  const calls = [
    call(0, 'search', { role: asker }),
    call(1, 'found', { role: helper, parts: [user('what')] }),
    call(2, 'left', { role: asker, parts: [user('r1')] }),
  ];
  const turns = [0, 1, 2].map((id) => madeTransition(id, 0, { role: calls[id]!.role }));
  const both = madeEpisode(0, calls, turns, { outcome: { asker: 1, helper: 0, silent: 0 } });
  const alone = madeEpisode(1, [call(0, 'search')], [madeTransition(0)]);
  const together = await readRoles([both, alone], read);
  expect(together).toEqual([...(await readRoles([both], read)), ...(await readRoles([alone], read))]);
  expect(together.map((roles) => Object.keys(roles))).toEqual([[asker, helper], ['agent']]);
  expect(together[0]!.asker!.rises_K).toHaveLength(2);
  expect(together[0]!.helper!.rises_K).toHaveLength(1);
});

const conversation = (question: string, answer: string): Row => ({
  v: 1,
  messages: [user(question), { role: 'assistant', content: answer }],
  source: { kind: 'file' },
});
