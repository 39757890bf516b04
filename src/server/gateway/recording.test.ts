/** What the gateway keeps apart: other models, changed histories, branches, parallel conversations. */

import { afterEach, describe, expect, test } from 'vitest';
import { policyModel } from './policy-model.ts';
import { chat, renderer, setUp, stopGateway } from './testing/open-gateway.ts';
import { pathsOf, promptsOf } from './testing/rebuild.ts';
import { scriptedTokens } from './testing/scripted-policy.ts';

afterEach(stopGateway);

const user = (content: string) => ({ role: 'user', content });
const said = (content: string) => ({ role: 'assistant', content });

test('a history that the client edited was sampled from exactly that prompt: a path of its own, and trained', async () => {
  const { post, session, policy } = await setUp(() => 'one');
  await post('/chat/completions', chat('who'));
  const messages = [user('who'), said('two'), user('who')];
  const { body } = await post('/chat/completions', { model: 'policy', messages });
  expect(body.turnwise).toEqual({ policy_version: 7, valid: true, new_path: 'foreign-words' });
  const { calls, untrainable, transitions } = session.record();
  expect(untrainable).toEqual({});
  // `<user> who <act>` is shared, the rest of the history is not.
  expect(calls[1]).toMatchObject({
    parent: 0,
    kept: 3,
    newPath: 'foreign-words',
    parts: messages,
    messages: messages.slice(1),
    trainable: true,
  });
  expect(renderer.text([...calls[1]!.context])).toBe('two <end> <user> who <act>');
  expect(promptsOf(calls).get(1)).toEqual([...policy.requests[1]!.append]);
  expect(transitions.map(({ call }) => call)).toEqual([0, 1]);
});

test('where the words of others come after an answer, its whole path is extended', async () => {
  const { post, session } = await setUp(() => 'one');
  await post('/chat/completions', chat('who'));
  const messages = [user('who'), said('one'), said('two'), user('who')];
  await post('/chat/completions', { model: 'policy', messages });
  const [, second] = session.record().calls;
  expect(second).toMatchObject({ parent: 0, messages: messages.slice(2) });
  expect(second).not.toHaveProperty('kept');
  expect(second).not.toHaveProperty('newPath');
});

describe('other models', () => {
  const judge = {
    ...policyModel({ policy: scriptedTokens(renderer, () => 'two'), renderer, contextLength: 64 }),
    name: 'judge',
    version: 3,
    author: { kind: 'model', name: 'judge@host' },
  } as const;

  test('are kept, marked and counted, and are no acts of the agent', async () => {
    const { post, session } = await setUp(() => 'one', {}, { foreign: [judge] });
    const { body } = await post('/chat/completions', { ...chat('who'), model: 'judge' });
    expect(body.turnwise.untrainable).toBe('other-model');
    await post('/chat/completions', chat('who'));
    const { calls, untrainable, transitions } = session.record();
    expect(untrainable).toEqual({ 'other-model': 1 });
    expect(calls[0]).toMatchObject({
      by: { kind: 'model', name: 'judge@host', version: 3 },
      purpose: 'consult',
      trainable: 'other-model',
    });
    expect(transitions.map(({ call }) => call)).toEqual([1]);
  });

  test('are not what the policy said', async () => {
    const { post, session } = await setUp(() => 'one', {}, { foreign: [judge] });
    await post('/chat/completions', { ...chat('who'), model: 'judge' });
    const messages = [user('who'), said('two'), user('ada')];
    await post('/chat/completions', { model: 'policy', messages });
    expect(session.record().calls[1]).not.toHaveProperty('parent');
  });
});

test('branches and choices are calls of one parent, parallel conversations have none, and no token is there twice', async () => {
  const { post, session, policy } = await setUp(({ append }) => ['one', 'two', 'three'][append.length % 3]!);
  await post('/chat/completions', chat('who'));
  const { text } = session.record().calls[0]!;
  const branch = (content: string, more: object = {}): Promise<unknown> =>
    post('/chat/completions', {
      model: 'policy',
      messages: [user('who'), said(text), user(content)],
      ...more,
    });
  await branch('one');
  await branch('two', { n: 2 });
  await Promise.all([post('/chat/completions', chat('ada')), post('/chat/completions', chat('hello'))]);
  const { calls } = session.record();
  expect(calls.map(({ id, parent }) => [id, parent])).toEqual([
    [0, undefined],
    [1, 0],
    [2, 0],
    [3, 0],
    [4, undefined],
    [5, undefined],
  ]);
  expect(pathsOf(calls)).toEqual([[0, 1], [0, 2], [0, 3], [4], [5]]);
  // One conversation, and so one cache, for whoever goes on first.
  expect(new Set(calls.map(({ conversation }) => conversation)).size).toBe(5);
  expect(calls[1]!.conversation).toBe(calls[0]!.conversation);
  const prompts = promptsOf(calls);
  for (const { id, context } of calls) {
    expect(policy.requests.map(({ append }) => [...append])).toContainEqual(prompts.get(id));
    expect(context.length).toBeLessThan(6);
  }
});

test('the policy’s tokens are kept where only the tools change, as far as the prompt does not', async () => {
  const { post, session } = await setUp(() => 'one');
  const tools = [{ type: 'function', function: { name: 'look' } }];
  await post('/chat/completions', chat('who', { tools }));
  await post('/chat/completions', { model: 'policy', messages: [user('who'), said('one'), user('ada')] });
  const [first, second] = session.record().calls;
  // Small models do not read declarations.
  expect(second).toMatchObject({ parent: 0 });
  expect(second).not.toHaveProperty('newPath');
  expect(first).toHaveProperty('tools');
  expect(second).not.toHaveProperty('tools');
});
