/** Episodes of any shape, with every number that JSON has no word for, and a small plain one. */

import fc from 'fast-check';
import type { Call, Episode, Group, Transition } from '../core/episode.ts';
import type { Json } from '../core/json/json.ts';

const number = fc.double();
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('NaN', 'Infinity', '\ud800', '__proto__', '\n'),
);
const role = fc.constantFrom('agent', 'white', '0', '__proto__');
const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
const dictionary = <T>(name: fc.Arbitrary<string>, value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.dictionary(name, value, { noNullPrototype: true });
const byRole = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> => dictionary(role, value);
const ids = fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })).map((list) => Int32Array.from(list));
const floats = fc
  .array(fc.oneof(fc.float(), fc.constantFrom(Number.NaN, -0, -1e-45, Number.NEGATIVE_INFINITY)))
  .map((list) => Float32Array.from(list));
const plain = <T>(fields: { [P in keyof T]: fc.Arbitrary<T[P]> }): fc.Arbitrary<T> =>
  fc.record(fields, { noNullPrototype: true }) as unknown as fc.Arbitrary<T>;
const message = plain({ role: fc.constant('user' as const), content: text });
const series = fc.array(number);

/** Some of the optional fields, never one that is undefined. */
function record<T, K extends keyof T>(fields: { [P in keyof T]: fc.Arbitrary<T[P]> }, requiredKeys: K[]) {
  return fc.record(fields, { requiredKeys, noNullPrototype: true }) as unknown as fc.Arbitrary<
    Partial<T> & Pick<T, K>
  >;
}

const call: fc.Arbitrary<Call> = record(
  {
    id: fc.nat(),
    conversation: text,
    under: fc.nat(),
    parent: fc.nat(),
    kept: fc.nat(),
    newPath: fc.constantFrom('window' as const, 'dropped' as const),
    role,
    by: plain({
      kind: fc.constantFrom('policy' as const, 'script' as const, 'person' as const, 'model' as const),
      name: text,
      version: fc.nat(40_000),
    }),
    purpose: text,
    sampling: plain({ temperature: number, topP: number, topK: fc.nat(), maxTokens: number }),
    choices: fc.array(ids),
    context: ids,
    ids,
    logprobs: floats,
    entropy: fc.float({ min: 0 }),
    messages: fc.array(message),
    parts: fc.array(fc.oneof(message, plain({ call: fc.nat() }))),
    tools: text,
    text,
    reply: plain({ content: text, toolCalls: fc.constant([]) }),
    problem: text,
    finish: fc.constantFrom('stop' as const, 'length' as const),
    trainable: fc.constantFrom(true as const, 'scripted' as const),
    at: number,
    waitMs: number,
    policyMs: number,
  },
  [
    'id',
    'conversation',
    'role',
    'by',
    'purpose',
    'sampling',
    'context',
    'ids',
    'logprobs',
    'messages',
    'text',
    'finish',
    'trainable',
    'at',
    'waitMs',
    'policyMs',
  ],
) as fc.Arbitrary<Call>;

const facts = record(
  {
    dense: series,
    answerProbability: number,
    informationGain: number,
    features: series,
    answer: text,
    correct: fc.boolean(),
    counterfactual: number,
    entityShare: number,
    mode: text,
  },
  [],
);

const transition: fc.Arbitrary<Transition> = record(
  {
    call: fc.nat(),
    role,
    anchor: text,
    action: text,
    valid: fc.boolean(),
    attempt: fc.nat(),
    rewards: byRole(number),
    metrics: dictionary(text, number),
    facts,
    notes: dictionary(text, json),
    at: number,
    environmentMs: number,
  },
  ['role', 'anchor', 'action', 'valid', 'rewards', 'at', 'environmentMs'],
) as fc.Arbitrary<Transition>;

const key = plain({
  step: fc.nat(100),
  environment: text,
  split: fc.constantFrom('train' as const, 'validation' as const, 'test' as const),
  task: fc.oneof(fc.nat(), text),
  group: fc.nat(),
  member: fc.nat(65_535),
});

const credit = record(
  {
    inBaseline: fc.boolean(),
    inLoss: fc.boolean(),
    weight: number,
    weights_K: series,
    trainedIn: fc.nat(),
    advantages_K: series,
    advantages_T: series,
    values: series,
    entropies: series,
  },
  ['inBaseline', 'inLoss', 'weight', 'trainedIn', 'advantages_K'],
);

export const anyEpisode: fc.Arbitrary<Episode> = record(
  {
    key,
    task: json,
    calls: fc.array(call, { maxLength: 3 }),
    transitions: fc.array(transition, { maxLength: 3 }),
    tools: dictionary(text, fc.constant([])),
    seats: byRole(plain({ player: text, version: fc.nat(40_000) })),
    branchedFrom: plain({ episode: key, transition: fc.nat(), calls: fc.nat() }),
    closing: byRole(fc.array(message)),
    scores: fc.array(
      fc.oneof(
        plain({ by: text, rewards: byRole(number) }),
        plain({ by: text, rewards: byRole(number), turns: byRole(fc.array(number)) }),
      ),
    ),
    outcome: byRole(number),
    success: byRole(fc.boolean()),
    stop: fc.constantFrom('done' as const, 'turn-limit' as const, 'failed:tool' as const),
    failure: text,
    credit: byRole(credit),
  },
  ['key', 'task', 'calls', 'transitions', 'tools', 'seats', 'outcome', 'success', 'stop'],
) as unknown as fc.Arbitrary<Episode>;

export const anyGroup: fc.Arbitrary<Group> = plain({
  step: fc.nat(100),
  group: fc.nat(),
  members: fc.array(anyEpisode, { minLength: 1, maxLength: 3 }),
});

/** A plain group: one turn a member, the last of them a success. */
export function plainGroup(step: number, group: number, members = 2): Group {
  return {
    step,
    group,
    members: Array.from({ length: members }, (_, member) => plainEpisode(step, group, member)),
  };
}

export function plainEpisode(step: number, group: number, member: number): Episode {
  return {
    key: { step, environment: 'maze', split: 'train', task: group, group, member },
    task: { maze: group },
    calls: [
      {
        id: 0,
        conversation: 'agent',
        role: 'agent',
        by: { kind: 'policy', name: 'learner', version: step - 1 },
        purpose: 'act',
        sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 8 },
        context: Int32Array.of(1, 2),
        ids: Int32Array.of(3, 4),
        logprobs: Float32Array.of(-0.25, -0.75),
        messages: [{ role: 'user', content: 'left:free' }],
        text: 'left',
        finish: 'stop',
        trainable: true,
        at: 0,
        waitMs: 1,
        policyMs: 2,
      },
    ],
    transitions: [
      {
        call: 0,
        role: 'agent',
        anchor: 'start',
        action: 'left',
        valid: true,
        rewards: { agent: member },
        at: 3,
        environmentMs: 1,
      },
    ],
    tools: {},
    seats: { agent: { player: 'learner', version: step - 1 } },
    outcome: { agent: member },
    success: { agent: member === 1 },
    stop: 'done',
    credit: {
      agent: { inBaseline: true, inLoss: true, weight: 1, trainedIn: step, advantages_K: [member - 0.5] },
    },
  };
}
