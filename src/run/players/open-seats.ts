/** The players of a run besides its learner: opened, seated, closed. */

import { join } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import { Rng } from '../../core/rng.ts';
import type { Engine } from '../../engine/engine.ts';
import type { World } from '../../env/world.ts';
import type { Batching } from '../../policy/batching.ts';
import { enginePolicy, LEARNER } from '../../policy/engine-policy.ts';
import type { Policy } from '../../policy/policy.ts';
import { rereading } from '../../policy/rereading.ts';
import { scriptedPolicy } from '../../policy/scripted.ts';
import { SpendMeter } from '../../server/gateway/spend.ts';
import { upstreamModel } from '../../server/gateway/upstream/upstream-model.ts';
import type { RunWorld } from '../../store/run-file.ts';
import type { Learner } from '../../train/kit/learner.ts';
import type { Seats } from '../../train/kit/seats.ts';
import { type ModelCard, rendererOf } from '../../train/model-card.ts';
import { isSameWorld } from '../load/world-source.ts';
import { messagePolicy } from '../model/black-box.ts';
import { type OpenBase, openCritic, openEngine } from '../model/run-model.ts';
import { openModel } from '../open-model.ts';
import { criticFolder, playerFolder } from '../run-folders.ts';
import { PastPool } from './past-pool.ts';
import { PastWeights } from './past-self.ts';
import { type PlayerSource, seatedSources } from './player-source.ts';
import { userPolicy } from './user-player.ts';

export interface SeatsRequest extends Pick<Learner, 'config' | 'engine' | 'renderer' | 'world' | 'recipe'> {
  readonly card: ModelCard;
  readonly open: OpenBase | undefined;
  /** Folder of all runs, and of this one. */
  readonly root: string;
  readonly folder: string;
  /** How the world of the run is found again. */
  readonly source: RunWorld;
  readonly signal: AbortSignal;
  /** Steps of the checkpoints from which the run can go on. */
  readonly checkpoints?: () => readonly number[];
  /** Counts calls to endpoints. */
  readonly spend?: SpendMeter;
  /** Players that the settings seat nowhere. Default: refused. */
  readonly unseated?: 'refused' | 'opened';
  /** A checkpoint, or a warm start, from which further learners go on; absent: they are new. */
  readonly from?: { readonly folder: string; readonly optimizer: boolean };
}

/** A learner besides the first. */
export interface OtherLearner {
  readonly player: string;
  readonly engine: Engine;
  readonly critic?: Engine;
}

export interface OpenSeats extends Seats {
  readonly learners: readonly OtherLearner[];
  close(): Promise<void>;
}

/** Undefined where the learner plays every role. */
export async function openSeats(request: SeatsRequest): Promise<OpenSeats | undefined> {
  const { world, config, unseated } = request;
  const { seated, sources } = seatedSources(world, config, unseated);
  if (sources.size === 0) return undefined;
  const kept = new Map([...sources].flatMap(([name, one]) => (one.kind === 'past' ? [[name, one]] : [])));
  const folder = join(request.folder, 'past');
  const weights = new PastWeights(folder, request.engine, [...kept.values()], request.checkpoints);
  const taken = new Set([...seated.values()].map(({ name }) => name));
  const pool = new PastPool({
    ...{ kept, weights, seed: config.seed, seated: [...taken] },
    open: () => openAnother(request),
  });
  const players = new Map<string, OpenPlayer>();
  const close = async (): Promise<void> => {
    await Promise.all([pool.close(), ...[...players.values()].map((player) => player.close?.())]);
  };
  try {
    for (const [name, source] of sources)
      if (source.kind !== 'past') players.set(name, await openPlayer(name, source, request));
  } catch (error) {
    await close();
    throw error;
  }
  const isLearner = (name: string): boolean =>
    !pool.has(name) && (sources.get(name)?.kind ?? 'learner') === 'learner';
  return {
    close,
    learners: [...players.values()].flatMap(({ learner }) => learner ?? []),
    seated: Object.fromEntries([...seated].map(([role, { name }]) => [role, name])),
    isLearner,
    names: (step) => [
      ...pool.names(step),
      ...[...sources.keys()].filter((name) => !kept.has(name) && !taken.has(name) && !isLearner(name)),
    ],
    ready: (names) => pool.ready(names),
    playerOf: (role) => seated.get(role)?.name ?? LEARNER,
    learns: (role) => (seated.get(role)?.source.kind ?? 'learner') === 'learner',
    players: (batching) =>
      new Map([
        ...[...players].map(([name, player]) => [name, { name, policy: player.policy(batching) }] as const),
        ...pool.players(request.renderer, batching),
      ]),
    before: (step) => pool.before(step),
    after: (step) => weights.keep(step),
  };
}

interface OpenPlayer {
  readonly learner?: OtherLearner;
  policy(batching: Batching): Policy;
  close?(): Promise<void>;
}

async function openPlayer(
  name: string,
  source: Exclude<PlayerSource, { readonly kind: 'past' }>,
  request: SeatsRequest,
): Promise<OpenPlayer> {
  switch (source.kind) {
    case 'learner':
      return openLearner(name, request);
    case 'script': {
      const policy = scriptedPolicy(request.world, { player: () => source.script, randomRate: 0 });
      return { policy: () => policy };
    }
    case 'endpoint': {
      const { spend = new SpendMeter() } = request;
      const policy = messagePolicy(spend.metered(upstreamModel(source.upstream)));
      return { policy: () => policy };
    }
    case 'user': {
      const policy = userPolicy(name, source.user, request.spend);
      return { policy: () => policy };
    }
    case 'run':
      return openRun(name, source, request);
  }
}

/** The same model with first weights of its own: another adapter over the same base, or a small model. */
async function openLearner(
  name: string,
  { card, config, open, engine: first, recipe, renderer, from }: SeatsRequest,
): Promise<OpenPlayer> {
  const own = { ...config, seed: seedOf(name, config.seed) };
  const held = { engine: first, open };
  const engine = await openEngine(card, own, open, undefined, held);
  const critic = await openCritic(card, own, recipe, open, held);
  const close = async (): Promise<void> => {
    await Promise.all([engine.close(), critic?.close()]);
  };
  try {
    if (from) {
      const folder = playerFolder(from.folder, name);
      await engine.load(folder, { optimizer: from.optimizer });
      if (from.optimizer) await critic?.load(criticFolder(folder));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    learner: { player: name, engine, ...(critic && { critic }) },
    policy: (batching) => enginePolicy(engine, renderer, batching),
    close,
  };
}

/** Another seed for each name, the same in every run. */
const seedOf = (name: string, seed: number): number => seed + 1 + Rng.of('player', name).int(1_000_000);

/** Another engine of the learner's model. */
const openAnother = ({ card, config, open, engine }: SeatsRequest): Promise<Engine> =>
  openEngine(card, config, open, undefined, { engine, open });

async function openRun(
  name: string,
  { run, step }: { readonly run: string; readonly step?: number },
  { root, signal, world, source, engine: first, open }: SeatsRequest,
): Promise<OpenPlayer> {
  const held = { engine: first, open };
  const opened = await openModel({ root, name: run, signal, held, ...(step !== undefined && { step }) });
  const { card, engine, file } = opened;
  try {
    if ('words' in card && !isSameWorld(file.world, source))
      throw otherWords(name, run, file.world.name, world);
    const renderer = await rendererOf(card, file.config, world);
    return {
      policy: (batching) => rereading(enginePolicy(engine, renderer, batching), renderer),
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
