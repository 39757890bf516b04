/** The players of a run besides its learner: opened, seated, closed. */

import { join } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import type { World } from '../../env/world.ts';
import { enginePolicy } from '../../policy/engine-policy.ts';
import type { Lockstep } from '../../policy/lockstep.ts';
import type { Policy } from '../../policy/policy.ts';
import { rereading } from '../../policy/rereading.ts';
import { scriptedPolicy } from '../../policy/scripted.ts';
import { untrained } from '../../policy/seated.ts';
import { upstreamModel } from '../../server/gateway/upstream-model.ts';
import type { RunWorld } from '../../store/run-file.ts';
import type { Learner } from '../../train/kit/learner.ts';
import type { Seats } from '../../train/kit/seats.ts';
import { type ModelCard, rendererOf } from '../../train/model-card.ts';
import { isSameWorld } from '../load/world-source.ts';
import { messagePolicy } from '../model/black-box.ts';
import { type OpenBase, openEngine } from '../model/run-model.ts';
import { openModel } from '../open-model.ts';
import { drawPast, type PastSelf, PastWeights } from './past-self.ts';
import { type PlayerSource, seatedSources } from './player-source.ts';

export interface SeatsRequest extends Pick<Learner, 'config' | 'engine' | 'renderer' | 'world'> {
  readonly card: ModelCard;
  readonly open: OpenBase | undefined;
  /** Folder of all runs, and of this one. */
  readonly root: string;
  readonly folder: string;
  /** How the world of the run is found again. */
  readonly source: RunWorld;
  readonly signal: AbortSignal;
}

export interface OpenSeats extends Seats {
  close(): Promise<void>;
}

/** Undefined where the learner plays every role. */
export async function openSeats(request: SeatsRequest): Promise<OpenSeats | undefined> {
  const { world, config } = request;
  const seated = seatedSources(world, config);
  if (seated.size === 0) return undefined;
  const sources = new Map([...seated.values()].map(({ name, source }) => [name, source]));
  const every = [...sources.values()].flatMap((source) => (source.kind === 'past' ? [source.every] : []));
  const weights = new PastWeights(join(request.folder, 'past'), request.engine, every);
  const players = new Map<string, OpenPlayer>();
  const close = async (): Promise<void> => {
    await Promise.all([...players.values()].map((player) => player.close?.()));
  };
  try {
    for (const [name, source] of sources) players.set(name, await openPlayer(name, source, weights, request));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    close,
    learns: (role) => !seated.has(role),
    players: (lockstep) => {
      const policies = new Map([...players].map(([name, player]) => [name, player.policy(lockstep)]));
      return new Map([...seated].map(([role, { name }]) => [role, { name, policy: policies.get(name)! }]));
    },
    before: async (step) => {
      for (const player of players.values()) await player.before?.(step);
    },
    after: (step) => weights.keep(step),
  };
}

interface OpenPlayer {
  policy(lockstep: Lockstep): Policy;
  before?(step: number): Promise<void>;
  close?(): Promise<void>;
}

async function openPlayer(
  name: string,
  source: PlayerSource,
  weights: PastWeights,
  request: SeatsRequest,
): Promise<OpenPlayer> {
  switch (source.kind) {
    case 'script': {
      const policy = scriptedPolicy(request.world, { player: () => source.script, randomRate: 0 });
      return { policy: () => policy };
    }
    case 'endpoint': {
      const policy = messagePolicy(upstreamModel(source.upstream));
      return { policy: () => policy };
    }
    case 'past':
      return openPast({ name, every: source.every, seed: request.config.seed }, weights, request);
    case 'run':
      return openRun(name, source, request);
  }
}

async function openPast(
  self: Omit<PastSelf, 'engine'>,
  weights: PastWeights,
  { card, config, open, renderer }: SeatsRequest,
): Promise<OpenPlayer> {
  const engine = await openEngine(card, config, open);
  let loaded: number | undefined;
  return {
    policy: (lockstep) => untrained(enginePolicy(engine, renderer, lockstep)),
    before: async (step) => {
      loaded = await drawPast({ ...self, engine }, weights, step, loaded);
    },
    close: () => engine.close(),
  };
}

async function openRun(
  name: string,
  { run, step }: { readonly run: string; readonly step?: number },
  { root, signal, world, source }: SeatsRequest,
): Promise<OpenPlayer> {
  const opened = await openModel({ root, name: run, signal, ...(step !== undefined && { step }) });
  const { card, engine, file } = opened;
  try {
    if ('words' in card && !isSameWorld(file.world, source))
      throw otherWords(name, run, file.world.name, world);
    const renderer = await rendererOf(card, file.config, world);
    return {
      policy: (lockstep) => rereading(enginePolicy(engine, renderer, lockstep), renderer),
      close: () => engine.close(),
    };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

function otherWords(name: string, run: string, seen: string, world: World): TurnwiseError {
  return new TurnwiseError('config-invalid', {
    what: `The player "${name}" is the small model of run "${run}", which reads the words of another environment`,
    seen,
    allowed: `a run of ${world.name}, or of a pretrained model`,
    fields: { key: `players.${name}` },
  });
}
