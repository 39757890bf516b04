/** Contexts of agents: what their model reads is up to the strategy, whatever their own code sends. */

import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { Part } from '../../core/episode.ts';
import { user } from '../../core/messages.ts';
import { samplesOf } from '../../core/sample.ts';
import { madeKey } from '../../core/testing/made-episodes.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { modes } from '../../rollout/context/modes.ts';
import { type Context, defineContext } from '../../rollout/context/strategy.ts';
import { summary } from '../../rollout/context/summary.ts';
import { taskGraph } from '../../rollout/context/task-graph.ts';
import { toolMemory } from '../../rollout/context/tool-memory.ts';
import { variables } from '../../rollout/context/variables.ts';
import { renderDemonstrations } from '../../synth/render-calls.ts';
import { policyModel } from './policy-model.ts';
import { episodeOf } from './session/session-record.ts';
import { teacherModel } from './teacher-model.ts';
import { LOOK, renderer, setUp, stopGateway } from './testing/open-gateway.ts';
import { rendererOf, scriptedTokens } from './testing/scripted-policy.ts';

afterEach(stopGateway);

type Said = { role: string; content: string };
const summaries = summary.create({ threshold: 14, instruction: 'stop' });
const read = (ids: ArrayLike<number>): string => renderer.text(ids);
const about = { key: madeKey(), version: 7, stop: 'done' } as const;

/** Two words a message: `<user> who <act> one <end>`, five tokens a turn. */
async function converse(
  post: Awaited<ReturnType<typeof setUp>>['post'],
  turns: number,
  messages: Said[] = [],
): Promise<Said[]> {
  for (let turn = 0; turn < turns; turn++) {
    messages.push({ role: 'user', content: 'who' });
    const { body } = await post('/chat/completions', { model: 'policy', messages });
    messages.push({ role: 'assistant', content: body.choices[0].message.content });
  }
  return messages;
}

test('an agent that sends all it was told is read with summaries, and hears nothing of them', async () => {
  const say = ({ messages }: { readonly messages: readonly Said[] }): string =>
    messages.at(-1)!.content === 'stop' ? 'ada three' : 'one';
  const { post, session, policy } = await setUp(say, {}, { context: summaries });
  const messages = await converse(post, 5);
  expect(messages.filter(({ role }) => role === 'assistant').map(({ content }) => content)).toEqual(
    new Array(5).fill('one'),
  );
  const { calls, transitions, tools } = session.record();
  expect(calls.map(({ id, purpose }) => [id, purpose])).toEqual([
    [0, 'act'],
    [1, 'act'],
    [2, 'act'],
    [3, 'summarize'],
    [4, 'act'],
    [5, 'summarize'],
    [6, 'act'],
  ]);
  expect(transitions.map(({ call }) => call)).toEqual([0, 1, 2, 4, 6]);
  const prompts = policy.requests.map(({ append }) => read([...append]));
  expect(prompts[3]).toBe(
    '<user> who <act> one <end> <user> who <act> one <end> <user> who <act> one <end> <user> stop <act>',
  );
  expect(prompts[4]).toBe('<user> who <act> ada three <end> <user> who <act>');
  expect(calls[4]).toMatchObject({
    newPath: 'window',
    parent: 3,
    parts: [{ shown: 0 }, { call: 3 }, user('who')],
  });
  expect(tools).toEqual({});
  // Credit and samples are as in any rollout, and the record can be rendered again.
  const episode = episodeOf(session.record(), about);
  const group = { step: 1, group: 0, members: [episode] };
  expect(
    roleGroups([group])[0]!.members[0]!.turns.map(({ calls: called }) => called.map(({ id }) => id)),
  ).toEqual([[0], [1], [2], [3, 4], [5, 6]]);
  const samples = samplesOf(group, 'learner');
  const masked = samples.reduce((sum, { mask_T }) => sum + mask_T.reduce((a, b) => a + b, 0), 0);
  expect(masked).toBe(calls.reduce((sum, { ids }) => sum + ids.length, 0));
  const again = renderDemonstrations(group, renderer).members[0]!.calls;
  expect(again.map(({ context, parent, kept }) => [read(context), parent, kept])).toEqual(
    calls.map(({ context, parent, kept }) => [read(context), parent, kept]),
  );
});

test('an agent that edits what was said begins a conversation of its own, with a state of its own', async () => {
  const { post, session } = await setUp(() => 'one', {}, { context: summaries });
  await converse(post, 2);
  await converse(post, 1, [
    { role: 'user', content: 'who' },
    { role: 'assistant', content: 'two' },
  ]);
  const { calls } = session.record();
  expect(calls[2]).toMatchObject({ purpose: 'act', newPath: 'foreign-words' });
  expect(calls[2]!.parts).toEqual([user('who'), { role: 'assistant', content: 'two' }, user('who')]);
});

test('tools of the strategy are answered before the agent hears of them', async () => {
  const own = { name: 'stop', description: '', parameters: { type: 'object', properties: {} } };
  const notes = defineContext({
    name: 'notes',
    summary: '',
    options: z.strictObject({}),
    start: () => ({ notes: 0 }),
    window: (view) => ({
      conversation: {
        parts: [...view.calls.flatMap(({ id }): Part[] => [{ shown: id }, { call: id }]), ...view.fresh],
        tools: [...(view.tools ?? []), own],
      },
      state: view.state,
    }),
    answer: (call, { state }) =>
      call.reply?.toolCalls[0]?.name === 'stop'
        ? { messages: [{ role: 'tool', content: 'ada' }], state: { notes: state.notes + 1 } }
        : undefined,
  });
  const said = ['<call> stop', '<call> look person: ada'];
  const { post, session, policy } = await setUp(() => said.shift() ?? 'one', {}, { context: notes.create() });
  const { body } = await post('/chat/completions', {
    model: 'policy',
    messages: [{ role: 'user', content: 'who' }],
    tools: [LOOK],
  });
  expect(body.choices[0].message.tool_calls[0].function.name).toBe('look');
  const { calls, transitions } = session.record();
  expect(calls).toHaveLength(2);
  expect(transitions.map(({ call }) => call)).toEqual([1]);
  expect(read([...policy.requests[1]!.append])).toBe('<user> who <act> <call> stop <end> <tool> ada <act>');
  expect(calls[1]!.messages).toEqual([{ role: 'tool', content: 'ada' }]);
});

test('a strategy that fails ends its episode, and one that overflows is told as such', async () => {
  const failing = defineContext({
    name: 'failing',
    summary: '',
    options: z.strictObject({}),
    start: () => null,
    window: () => {
      throw new Error('out of ideas');
    },
  });
  const broken = await setUp(undefined, {}, { context: failing.create() });
  const ask = { model: 'policy', messages: [{ role: 'user', content: 'who' }] };
  expect((await broken.post('/chat/completions', ask)).status).toBe(500);
  expect(String(broken.session.fault)).toContain('out of ideas');
  await stopGateway();
  const full = await setUp(() => 'one', {}, { context: summary.create({ threshold: 3, summaries: 0 }) });
  await converse(full.post, 1);
  const messages = [
    { role: 'user', content: 'who' },
    { role: 'assistant', content: 'one' },
    { role: 'user', content: 'who' },
  ];
  const refused = await full.post('/chat/completions', { model: 'policy', messages });
  expect(refused).toMatchObject({ status: 400, body: { error: { code: 'context_length_exceeded' } } });
  expect(full.session.overflowed).toBe(true);
});

test('a teacher writes what the strategy’s script says, so that demonstrations are played under it', async () => {
  const model = teacherModel(async () => ({ content: 'one two three one two' }), null, 'expert', 'x');
  const { post, session } = await setUp(
    undefined,
    {},
    { context: summary.create({ threshold: 4, instruction: 'stop' }), model },
  );
  await converse(post, 3);
  const { calls } = session.record();
  expect(calls.map(({ purpose, trainable }) => [purpose, trainable])).toContainEqual([
    'summarize',
    'scripted',
  ]);
  const asked = calls.find(({ purpose }) => purpose === 'summarize')!;
  expect(asked.text.startsWith('one two three one two')).toBe(true);
});

/** A model of an agent that says one thing after another. */
async function withModel(said: readonly string[], context: Context) {
  const own = rendererOf(
    'who ada look person: <call> search_tools remove_tools query: names: show name: r1 $r1 Loaded tools mode one is new slots known none write now',
  );
  const rest = [...said];
  const policy = scriptedTokens(own, () => rest.shift() ?? 'one');
  const model = policyModel({ policy, renderer: own, contextLength: 400 });
  const { post, session } = await setUp(undefined, {}, { model, context });
  const ask = async (messages: readonly object[]) =>
    (await post('/chat/completions', { model: 'policy', messages, tools: [LOOK] })).body.choices[0].message;
  const prompts = (): string[] => policy.requests.map(({ append }) => own.text([...append]));
  return { ask, session, prompts };
}

test('tool-memory: an agent’s tools are offered once they are loaded, and the agent hears of nothing else', async () => {
  const said = ['<call> look person: ada', '<call> search_tools query: look', '<call> look person: ada'];
  const { ask, session } = await withModel(said, toolMemory.create());
  const answer = await ask([{ role: 'user', content: 'who' }]);
  expect(answer.tool_calls[0].function).toMatchObject({ name: 'look' });
  const { calls, tools, transitions } = session.record();
  expect(calls.map((call) => tools[call.tools!]!.map(({ name }) => name))).toEqual([
    ['search_tools', 'remove_tools'],
    ['search_tools', 'remove_tools'],
    ['look', 'search_tools', 'remove_tools'],
  ]);
  expect(transitions.map(({ call }) => call)).toEqual([2]);
  expect(calls[1]!.messages).toEqual([{ role: 'tool', content: 'look is not loaded. Loaded: none' }]);
});

test('variables: an agent is told the value that the model named, and may go on from it', async () => {
  const long = 'ada '.repeat(20).trim();
  const said = ['<call> look person: ada', '<call> look person: $r1', 'one'];
  const { ask, session } = await withModel(said, variables.create({ limit: 32 }));
  const opening = { role: 'user', content: 'who' };
  const first = await ask([opening]);
  const result = { role: 'tool', tool_call_id: first.tool_calls[0].id, content: long };
  const second = await ask([opening, first, result]);
  expect(JSON.parse(second.tool_calls[0].function.arguments)).toEqual({ person: long });
  const last = { role: 'tool', tool_call_id: second.tool_calls[0].id, content: 'one' };
  await ask([opening, first, result, second, last]);
  const { calls } = session.record();
  expect(calls.map(({ text }) => text)).toEqual(said);
  // One conversation, in which the long result was never read.
  expect(new Set(calls.map(({ conversation }) => conversation)).size).toBe(1);
  expect(Math.max(...calls.map(({ context }) => context.length))).toBeLessThan(30);
});

test('task-graph and modes: an agent hears of no question, and credit of the mode', async () => {
  const graph = await withModel(
    ['new one is known', 'ada'],
    taskGraph.create({ instruction: 'write', act: 'now' }),
  );
  expect(await graph.ask([{ role: 'user', content: 'who' }])).toMatchObject({ content: 'ada' });
  expect(graph.session.record().calls.map(({ purpose }) => purpose)).toEqual(['graph', 'act']);
  expect(graph.prompts()[1]).toBe('<user> who <user> one is known <user> now <act>');
  await stopGateway();
  const options = { modes: ['one', 'new'], forced: 0, instruction: 'mode' };
  const chosen = await withModel(['new', 'ada'], modes.create(options, { trained: false }));
  expect(await chosen.ask([{ role: 'user', content: 'who' }])).toMatchObject({ content: 'ada' });
  const { calls, transitions } = chosen.session.record();
  expect(calls.map(({ purpose, trainable }) => [purpose, trainable])).toEqual([
    ['mode', 'left-out'],
    ['act', true],
  ]);
  expect(transitions).toMatchObject([{ call: 1, facts: { mode: 'new' } }]);
});
