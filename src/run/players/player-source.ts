/** What a player of the configuration is: an earlier self, a run, a script or an endpoint. */

import { TurnwiseError } from '../../core/errors.ts';
import type { SimulatedUser } from '../../env/user/simulate-user.ts';
import type { PlayerKind, World } from '../../env/world.ts';
import { LEARNER } from '../../policy/engine-policy.ts';
import { POLICY_NAME } from '../../server/gateway/policy-model.ts';
import { parseUpstream, type UpstreamOptions } from '../../server/gateway/upstream/upstream-model.ts';
import { isSynchronous } from '../../train/config/batch-settings.ts';
import type { Catalogue } from '../../train/config/catalogue.ts';
import type { TrainConfig } from '../../train/config/config.ts';

export type PlayerSource =
  | { readonly kind: 'learner' }
  | { readonly kind: 'past'; readonly every: number; readonly most?: number }
  | { readonly kind: 'run'; readonly run: string; readonly step?: number }
  | { readonly kind: 'script'; readonly script: PlayerKind }
  | { readonly kind: 'endpoint'; readonly upstream: UpstreamOptions }
  | { readonly kind: 'user'; readonly user: SimulatedUser };

const SCRIPTS: readonly PlayerKind[] = ['expert', 'beginner', 'random'];
const ALLOWED =
  'learner, past:STEPS or past:STEPS:MOST, RUN or RUN@STEP, script:expert|beginner|random, openai:URL#MODEL or vllm:URL#MODEL';

/** @throws TurnwiseError `config-invalid`, `policy-unknown` */
export function playerSource(name: string, given: unknown): PlayerSource {
  const text = String(given);
  if (text === LEARNER) return { kind: 'learner' };
  const [, kind = '', rest = ''] = /^(past|script|openai|vllm):(.*)$/.exec(text) ?? [];
  const [, every, most] = /^([1-9]\d*)(?::([1-9]\d*))?$/.exec(rest) ?? [];
  if (kind === 'past' && every !== undefined)
    return { kind, every: Number(every), ...(most !== undefined && { most: Number(most) }) };
  const script = SCRIPTS.find((one) => one === rest);
  if (kind === 'script' && script) return { kind, script };
  if (kind === 'openai' || kind === 'vllm') {
    return { kind: 'endpoint', upstream: parseUpstream(text, POLICY_NAME, process.env.OPENAI_API_KEY) };
  }
  const [, run, step] = /^([\w.-]+)(?:@(\d+))?$/.exec(text) ?? [];
  if (kind === '' && run !== undefined) {
    return { kind: 'run', run, ...(step !== undefined && { step: Number(step) }) };
  }
  throw wrong(`players.${name}`, `The player "${name}" is none that there is`, text, ALLOWED);
}

/** The players that sit somewhere by the settings, by role; roles that are absent are the learner's. */
export type SeatedSources = ReadonlyMap<string, { readonly name: string; readonly source: PlayerSource }>;

export interface PlayerSources {
  readonly seated: SeatedSources;
  /** Those that are opened, by name. */
  readonly sources: ReadonlyMap<string, PlayerSource>;
}

/**
 * Who sits where, checked against the roles of the world before anything runs.
 *
 * @param unseated players that the settings seat nowhere: refused, or opened for whoever seats them
 * @throws TurnwiseError `config-invalid`, `policy-unknown`
 */
export function seatedSources(
  world: World,
  config: TrainConfig,
  unseated: 'refused' | 'opened' = 'refused',
): PlayerSources {
  const { players, seats } = config;
  const sources = new Map(Object.entries(players).map(([name, text]) => [name, playerSource(name, text)]));
  const named = Object.entries(seats).flatMap(([role, name]) => {
    if (!world.roles.includes(role))
      throw wrong(`seats.${role}`, `${world.name} has no role "${role}"`, role, world.roles.join(', '));
    if (typeof name !== 'string')
      throw wrong(`seats.${role}`, 'A seat is given to a player by its name', JSON.stringify(name), 'a name');
    if (name === LEARNER) return [];
    const source = sources.get(name);
    const known = [LEARNER, ...sources.keys()].join(', ');
    if (!source)
      throw wrong(`seats.${role}`, `No player is called "${name}"`, name, known, definePlayer(name));
    return [[role, { name, source }] as const];
  });
  const users = Object.entries(world.users ?? {}).flatMap(([role, user]) => {
    if (seats[role] !== undefined) return [];
    if (sources.has(role))
      throw wrong(`players.${role}`, `${world.name} has a simulated user of this name`, role, 'another name');
    const source: PlayerSource = { kind: 'user', user };
    sources.set(role, source);
    return [[role, { name: role, source }] as const];
  });
  const seated = [...named, ...users];
  const idle = [...sources.keys()].find((name) => !seated.some(([, seat]) => seat.name === name));
  if (idle !== undefined && unseated === 'refused') {
    const seat = `seats.${world.roles.at(-1)}=${idle}`;
    throw wrong(`players.${idle}`, `The player "${idle}" sits nowhere`, 'no seat', seat, `Add --set ${seat}`);
  }
  const outside = world.agent && seated.find(([, { source }]) => !['learner', 'past'].includes(source.kind));
  if (outside !== undefined)
    throw wrong(
      `seats.${outside[0]}`,
      `${world.name} is an agent, whose roles learners and earlier selves play`,
      String(players[outside[1].name]),
      'learner or past:STEPS',
      'Other models are asked by their names in "models", and simulated users are "users" of the agent',
    );
  const opened =
    unseated === 'opened' ? sources : new Map(seated.map(([, { name, source }]) => [name, source]));
  for (const [name, source] of opened) {
    if (source.kind !== 'script' || world.script !== undefined) continue;
    throw wrong(
      `players.${name}`,
      `${world.name} has no scripted players`,
      `script:${source.script}`,
      ALLOWED,
    );
  }
  // One engine holds one earlier self, and a step that is played ahead would ask it for two.
  const past = [...opened].find(([, source]) => source.kind === 'past')?.[0];
  if (past !== undefined && !isSynchronous(config)) {
    const { maxStaleness, order, parts } = config.batches;
    throw wrong(
      `players.${past}`,
      `The player "${past}" is drawn anew for each step, which needs steps that are played as a whole, and not ahead`,
      `maxStaleness=${maxStaleness}, parts=${parts}, order=${order}`,
      'maxStaleness=0, parts=1, order=asked, or another player',
    );
  }
  const learns = seated.filter(([, { source }]) => source.kind === 'learner').length;
  if (world.roles.length > 0 && seated.length === world.roles.length && learns === 0)
    throw wrong('seats', 'Nothing is learned where the learner has no seat', 'other players in all', LEARNER);
  return { seated: new Map(seated), sources: opened };
}

/** What becomes of players that the settings seat nowhere, in a run. */
export const unseatedIn = (
  { tasks }: Pick<TrainConfig, 'tasks'>,
  catalogue: Pick<Catalogue, 'tasks'>,
): 'refused' | 'opened' => (catalogue.tasks.find(tasks.name).seats ? 'opened' : 'refused');

const definePlayer = (name: string): string => `Define it with --set players.${name}=past:10`;

function wrong(key: string, what: string, seen: string, allowed: string, next?: string): TurnwiseError {
  return new TurnwiseError('config-invalid', {
    ...{ what, seen, allowed, fields: { key } },
    ...(next !== undefined && { next }),
  });
}
