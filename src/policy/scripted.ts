/** Policies that follow an environment's scripts: demonstrators, with mistakes mixed in. */

import type { EpisodeKey } from '../core/episode.ts';
import { TurnwiseError } from '../core/errors.ts';
import { Rng } from '../core/rng.ts';
import { thrownText } from '../core/safe-text.ts';
import { partOf } from '../env/mix/part.ts';
import { checkedText } from '../env/replies.ts';
import type { PlayerKind, World } from '../env/world.ts';
import type { Renderer } from '../model/chat/renderer.ts';
import type { CompletionRequest, Policy } from './policy.ts';

export interface ScriptedOptions {
  /** Who plays an episode. */
  readonly player: (key: EpisodeKey) => PlayerKind;
  /** Probability of a uniformly random legal move instead. */
  readonly randomRate: number;
  /** Turns the script's text into ids; without it completions carry no ids. */
  readonly renderer?: Renderer;
}

/** What is thought before acting, where the protocol tells thoughts from actions. */
async function thoughtOf(world: World, request: CompletionRequest, rng: Rng): Promise<string> {
  const { session } = request;
  if (!partOf(world, session).protocol.thought || !world.correctThought) return '';
  const thought = await world.correctThought({ session, messages: request.messages, thought: '', rng });
  return thought === '' ? '' : `${thought} `;
}

/** A policy that plays `world` by its scripts. Its completions are not `sampled`: only imitation learns from them. */
export function scriptedPolicy(world: World, options: ScriptedOptions): Policy {
  return {
    author: { kind: 'script', name: 'script', version: 0 },
    complete: async (request) => {
      const { by, text } = await written(world, request, options);
      const ids = Int32Array.from(options.renderer?.completionIds(text) ?? []);
      return {
        ids,
        logprobs: new Float32Array(ids.length),
        text,
        finish: 'none',
        by: { kind: 'script', name: by, version: 0 },
        trainable: 'scripted',
      };
    },
  };
}

/** What its own script comes to, or what the context's writes. */
async function written(
  world: World,
  request: CompletionRequest,
  options: ScriptedOptions,
): Promise<{ readonly by: string; readonly text: string }> {
  const { script, plans = false } = request;
  const planned = script && !plans ? undefined : await acted(world, request, options);
  if (script === undefined) return planned!;
  const text = askedText(script(planned?.text));
  return planned && text === planned.text ? planned : { by: 'script', text };
}

async function acted(
  world: World,
  request: CompletionRequest,
  options: ScriptedOptions,
): Promise<{ readonly by: string; readonly text: string }> {
  const rng = Rng.of('script', request.seedKey);
  const wanted = rng.chance(options.randomRate) ? 'random' : options.player(request.key);
  const { own, action } = await ofEnvironment(async () => {
    const own = await world.script?.(request.session, wanted, rng);
    return { own, action: own ?? (await world.script?.(request.session, 'expert', rng)) };
  });
  if (action === undefined) {
    throw new TurnwiseError('no-script', {
      what: `The environment ${world.name} has no scripted player`,
      seen: `a request for its ${wanted}`,
      next: 'Give it solve() (and actions()), or start from a checkpoint instead of demonstrations',
    });
  }
  const text = await ofEnvironment(async () => {
    const written = partOf(world, request.session).protocol.format(checkedText('script()', action));
    return `${await thoughtOf(world, request, rng)}${checkedText('protocol.format()', written)}`;
  });
  return { by: own === undefined ? 'expert' : wanted, text };
}

/** The environment's code, asked in the policy's place: its errors end the episode, even those that look like ours. */
async function ofEnvironment<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw TurnwiseError.isInstance(error) ? new Error(thrownText(error), { cause: error }) : error;
  }
}

/** What the context's script wrote. @throws TurnwiseError `no-script` where it has none */
export function askedText(text: string | undefined): string {
  if (text !== undefined) return checkedText('script() of the context', text);
  throw new TurnwiseError('no-script', {
    what: 'The context asks for more than acts, and has no scripted player for it',
    next: 'Give it script(), or start from a checkpoint instead of demonstrations',
  });
}
