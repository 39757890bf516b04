/**
 * Semi-online episodes: the states are those of the expert's trajectory, the history is the agent's own. An act that differs from
 * the expert's is patched: the expert's is done instead, up to a number of times. UI-S1, arXiv 2509.11543.
 *
 *   reward of a turn that can be read: 0.1 + 0.9 · (1 the expert's act, 0.5 the same first word, 0.1 another); else 0
 *
 * SOP, with `patches: 0` = ½ · (mean of `env/progress` + success); progress: turns that were the expert's until one was not, of all
 * of the expert's
 *
 * GiGPO (`credit.method=gigpo`) then is the paper's advantage: the episode against its group, and each turn against the others
 * at its state, which all members share, however many patches brought them there.
 *
 * 1. The paper puts the expert's act into the history in place of the agent's. Here the agent's act stays, and the observation,
 *    which is that of the expert's, begins with what was done instead.
 * 2. The paper cuts discounted returns at a patch; here the credit method decides.
 * 3. An act that cannot be read is one that differs, and uses up a patch. But nothing is done instead: environments promise that it
 *    moves nothing, so the agent acts there again.
 * 4. Trajectories are those of the scripted expert, who does the same at equal states. How long one is, is seen at the start: where
 *    chance plays a part, it may turn out longer or shorter.
 * 5. Progress is told once: where the turns that were the expert's end, or with the episode. Where a limit of the rollout (turns,
 *    tokens, the context) cuts an episode whose every act was the expert's, it is not told.
 */

import { Rng } from '../../core/rng.ts';
import type { Environment, Step } from '../environment.ts';
import { anchorOf, lifted } from './lifted.ts';

export type Patched<State> = {
  readonly now: State;
  /** Acts that were not the expert's. */
  readonly misses: number;
  /** What was done instead of the last act; '' where that was the expert's. */
  readonly instead: string;
  /** Turns that were the expert's, until one was not. */
  readonly matched: number;
  /** Turns that the expert takes from the start to the end. */
  readonly length: number;
};

export interface PatchOptions {
  /** Patches of an episode; the next act that differs ends it. Default 2. */
  readonly patches?: number;
}

/**
 * The environment along the trajectory of its expert. An episode succeeds where the inner one does without a patch.
 * Its metric `env/matched` is the share of turns that were the expert's, `env/progress` how far episodes came before one was not.
 *
 * @example
 * export const offline = patched(frozenLake(options), { patches: 2 });
 * @throws Error where the environment has no `solve`
 */
export function patched<Task, State>(
  inner: Environment<Task, State>,
  { patches: most = 2 }: PatchOptions = {},
): Environment<Task, Patched<State>> {
  const { natural, solve, maxTurns } = inner;
  if (!solve) throw new Error(`${inner.name} has no expert (solve) whose trajectory could be followed`);
  const expertAt = (state: State): string =>
    solve(state, Rng.of('patched', anchorOf(inner as Environment<never, State>, state)));
  const lengthFrom = (start: State, rng: Rng): number => {
    let [state, turns, done] = [start, 0, false];
    while (!done && turns < maxTurns) {
      ({ state, done } = inner.step(state, expertAt(state), rng.fork('length', turns)));
      turns++;
    }
    return turns;
  };
  const { stumble: _, ...kept } = lifted(inner, ({ now }: Patched<State>) => now);
  return {
    name: `${inner.name}-patched`,
    description: `${inner.description} Acts that differ from the expert's are patched ${most} times.`,
    maxTurns,
    returns: [0, maxTurns],
    tasks: (split) => inner.tasks(split),
    ...kept,
    solve: ({ now }) => expertAt(now),
    anchor: ({ now }) => anchorOf(inner as Environment<never, State>, now),
    start(task, rng) {
      const { state, messages } = inner.start(task, rng);
      const length = lengthFrom(state, rng.fork('expert'));
      return { state: { now: state, misses: 0, instead: '', matched: 0, length }, messages };
    },
    step(before, action, rng) {
      const { now, length } = before;
      const expert = expertAt(now);
      const own = inner.step(now, action, rng.fork('own'));
      const isMatch = own.valid && action === expert;
      const misses = before.misses + (isMatch ? 0 : 1);
      const over = misses > most;
      const matched = before.matched + (misses === 0 ? 1 : 0);
      const told = (done: boolean): NonNullable<Step<State>['metrics']> => {
        const wasOn = before.misses === 0 && before.matched < length;
        const ends = wasOn && (misses > 0 || done || matched === length);
        return { matched: isMatch ? 1 : 0, ...(ends && { progress: matched / length }) };
      };
      if (!own.valid) {
        const state = { now: own.state, misses, instead: '', matched, length };
        const done = over || own.done;
        const observation = over ? '' : own.observation;
        return { ...own, state, reward: 0, observation, done, success: false, metrics: told(done) };
      }
      const reward = 0.1 + 0.9 * likeness(action, expert);
      const taken = inner.step(now, expert, rng.fork('taken'));
      const instead = isMatch || over ? '' : expert;
      const state = { now: over ? now : taken.state, misses, instead, matched, length };
      const done = over || taken.done;
      return {
        ...taken,
        state,
        valid: true,
        reward,
        observation: over ? '' : `${instead} ${taken.observation}`.trim(),
        done,
        success: !over && taken.done && taken.success === true && misses === 0,
        metrics: told(done),
      };
    },
    ...(natural && {
      natural: {
        instructions: natural.instructions,
        example: natural.example,
        observe(state, step) {
          if (step?.done && step.observation === '') return '';
          const { now, instead } = state;
          // What the inner environment said, without what was done instead.
          const own = step && {
            ...step,
            state: step.state.now,
            observation:
              instead === '' ? step.observation : step.observation.slice(instead.length).trimStart(),
          };
          const said = natural.observe(now, own);
          return instead === '' ? said : `Done instead: ${instead}. ${said}`;
        },
      },
    }),
  };
}

function likeness(action: string, expert: string): number {
  if (action === expert) return 1;
  const first = (text: string): string | undefined => /^\S+/.exec(text)?.[0];
  return expert.includes(' ') && first(action) === first(expert) ? 0.5 : 0.1;
}
