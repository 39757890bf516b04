/** What the gateway keeps apart: calls that cannot be trained, branches, parallel conversations. */

import { afterEach, describe, expect, test } from 'vitest';
import { policyModel } from './policy-model.ts';
import { chat, renderer, setUp, stopGateway } from './testing/open-gateway.ts';
import { scriptedTokens } from './testing/scripted-policy.ts';
import { turnsOf } from './trajectories.ts';

afterEach(stopGateway);

describe('what cannot be trained is kept, marked and counted', () => {
  test('edited history', async () => {
    const { post, session } = await setUp(() => 'one');
    await post('/chat/completions', chat('who'));
    const edited = {
      model: 'policy',
      messages: [
        { role: 'user', content: 'who' },
        { role: 'assistant', content: 'two' },
        { role: 'user', content: 'who' },
      ],
    };
    const { body } = await post('/chat/completions', edited);
    expect(body.turnwise.untrainable).toBe('edited-history');
    const record = session.record();
    expect(record.untrainable).toEqual({ 'edited-history': 1 });
    expect(record.calls).toHaveLength(2);
    expect(turnsOf(record.calls).map(({ untrainable }) => untrainable)).toEqual([
      undefined,
      'edited-history',
    ]);
    expect(turnsOf(record.calls).map(({ sampled }) => sampled)).toEqual([true, false]);
  });

  test('another model', async () => {
    const judge = {
      ...policyModel({ policy: scriptedTokens(renderer, () => 'two'), renderer, contextLength: 64 }),
      name: 'judge',
    };
    const { post, session } = await setUp(() => 'one', {}, { foreign: [judge] });
    await post('/chat/completions', { ...chat('who'), model: 'judge' });
    await post('/chat/completions', chat('who'));
    expect(session.record().untrainable).toEqual({ 'foreign-model': 1 });
  });
});

test('branches and parallel conversations are trajectories of their own, and no token is sampled in two', async () => {
  const { post, session } = await setUp(({ promptIds }) => ['one', 'two', 'three'][promptIds.length % 3]!);
  await post('/chat/completions', chat('who'));
  const { text } = session.record().calls[0]!;
  const branch = (content: string): Promise<unknown> =>
    post('/chat/completions', {
      model: 'policy',
      messages: [
        { role: 'user', content: 'who' },
        { role: 'assistant', content: text },
        { role: 'user', content },
      ],
    });
  await branch('one');
  await branch('two');
  await Promise.all([post('/chat/completions', chat('ada')), post('/chat/completions', chat('hello'))]);
  const record = session.record();
  expect(record.trajectories.map((ids) => ids.length).sort()).toEqual([1, 1, 1, 2]);
  const turns = turnsOf(record.calls);
  expect(turns.reduce((sum, { ids }) => sum + ids.length, 0)).toBe(
    record.calls.reduce((sum, { ids }) => sum + ids.length, 0),
  );
});
