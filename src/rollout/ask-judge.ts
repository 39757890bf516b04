/** Questions that a score asks other models, and the calls that they leave behind. */

import type { Call, EpisodeKey } from '../core/episode.ts';
import { keyText } from '../core/episode-key.ts';
import { TurnwiseError } from '../core/errors.ts';
import type { Message } from '../core/messages.ts';
import { thrownText, valueText } from '../core/safe-text.ts';
import { checkMessages } from '../env/checks.ts';
import type { JudgeModel } from '../env/scores/group-scores.ts';
import type { World } from '../env/world.ts';

/** The role and the purpose of a judge's calls: it is none of the roles that are trained. */
export const JUDGE = 'judge';

/** What a model elsewhere answered, and its name and host. */
export interface AnsweredElsewhere {
  readonly text: string;
  readonly by: string;
}

/** Asks the model at an address such as `openai:URL#MODEL`, at temperature 0. */
export type AskModel = (
  address: string,
  messages: readonly Message[],
  signal: AbortSignal,
) => Promise<AnsweredElsewhere>;

interface Asked extends AnsweredElsewhere {
  readonly messages: readonly Message[];
  readonly ms: number;
}

export class JudgeCalls {
  readonly #world: Pick<World, 'agent'>;
  readonly #askModel: AskModel | undefined;
  /** In the order of asking; absent while under way, and where nothing was answered. */
  readonly #asked: (Asked | undefined)[] = [];

  constructor(world: Pick<World, 'agent'>, askModel: AskModel | undefined) {
    this.#world = world;
    this.#askModel = askModel;
  }

  /** Whether anything was answered. */
  get any(): boolean {
    return this.#asked.some((asked) => asked !== undefined);
  }

  /** @throws TurnwiseError `judge-failed`, `spend-limit` */
  async ask(model: JudgeModel, given: readonly Message[], signal: AbortSignal): Promise<string> {
    const place = this.#asked.push(undefined) - 1;
    const began = performance.now();
    try {
      const messages = structuredClone([...checkMessages('ask()', given)]);
      const { text, by } = await this.#answer(model, messages, signal);
      if (typeof text !== 'string') throw failed(`${valueText(text)} as its answer`);
      this.#asked[place] = { messages, text, by, ms: performance.now() - began };
      return text;
    } catch (error) {
      if (TurnwiseError.isInstance(error) && ['judge-failed', 'spend-limit'].includes(error.code))
        throw error;
      throw failed(thrownText(error), error);
    }
  }

  async #answer(
    model: JudgeModel,
    messages: readonly Message[],
    signal: AbortSignal,
  ): Promise<AnsweredElsewhere> {
    if (typeof model === 'function') {
      return { text: await model(structuredClone(messages), { signal }), by: model.name || JUDGE };
    }
    const address = this.#world.agent?.models[model] ?? model;
    if (this.#askModel === undefined) throw failed(`no way to ask ${address} here`);
    return this.#askModel(address, messages, signal);
  }

  /** What was answered, as calls of an episode that come after its own. */
  calls(key: EpisodeKey, own: readonly Call[], at: number): Call[] {
    const first = own.reduce((most, { id }) => Math.max(most, id), -1) + 1;
    const answered = this.#asked.filter((asked) => asked !== undefined);
    return answered.map(({ messages, text, by, ms }, index): Call => {
      return {
        id: first + index,
        conversation: `${keyText(key)}/${JUDGE}/${index}`,
        role: JUDGE,
        by: { kind: 'model', name: by, version: 0 },
        purpose: JUDGE,
        sampling: { temperature: 0, topP: 1, topK: 0, maxTokens: Number.POSITIVE_INFINITY },
        context: new Int32Array(),
        ids: new Int32Array(),
        logprobs: new Float32Array(),
        messages,
        text,
        finish: 'none',
        trainable: 'other-model',
        at,
        waitMs: 0,
        policyMs: ms,
      };
    });
  }
}

function failed(seen: string, cause?: unknown): TurnwiseError {
  return new TurnwiseError('judge-failed', {
    what: 'The judge of a group could not be asked',
    seen,
    next: 'The episodes of the group are left out; check the address of the model and its key',
    fields: { origin: 'grader' },
    ...(cause !== undefined && { cause }),
  });
}
