/** An answer that is on its way, as dialects tell it: its words as they are sampled, and the rest when it is there. */

import type { Said } from '../chat-model.ts';
import { type Answer, toldOf } from './dialect.ts';
import { pieces } from './pieces.ts';

/** What is known of an answer when its first word is. */
export interface Opening {
  /** What its ids end in. */
  readonly ref: string;
  readonly version: number;
  /** Seconds since 1970. */
  readonly created: number;
  readonly promptIds: Int32Array;
  readonly promptTokens: number;
  /** What the gateway tells of it. */
  readonly told: object;
}

/** Its parts, which are read one after another. */
export interface Coming {
  readonly opening: Promise<Opening>;
  /** Of its first choice, in pieces that add up to what the answer has. */
  readonly reasoning: AsyncIterable<string>;
  readonly content: AsyncIterable<string>;
  /** @throws ApiError */
  readonly answer: Promise<Answer>;
}

/** What is heard of an answer before it is there. */
export class LiveAnswer {
  readonly opened: Promise<Omit<Opening, 'created'>>;
  readonly #said: Said[] = [];
  #open: (opening: Omit<Opening, 'created'>) => void = () => {};
  #wake: () => void = () => {};
  #over = false;

  constructor() {
    this.opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  /** With the first words: until then a failure can still be told by a status. */
  begin(opening: Omit<Opening, 'created'>): void {
    this.#open(opening);
  }

  say(said: Said): void {
    this.#said.push(said);
    this.#wake();
  }

  /** Nothing more is said. */
  end(): void {
    this.#over = true;
    this.#wake();
  }

  /** What is said next and not taken yet; undefined where that is nothing more. */
  async next(): Promise<Said | undefined> {
    while (this.#said.length === 0 && !this.#over)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#said[0];
  }

  take(): void {
    this.#said.shift();
  }
}

/** @param created when it was asked for, in seconds since 1970 */
export function comingOf(answer: Promise<Answer>, created: number, live?: LiveAnswer): Coming {
  const ended = (): void => live?.end();
  answer.then(ended, ended);
  const opening = answer.then(openingOf);
  const opened = live?.opened.then((known) => ({ ...known, created }));
  return {
    opening: opened ? Promise.race([opened, opening]) : opening,
    reasoning: partOf('reasoning', answer, live),
    content: partOf('content', answer, live),
    answer,
  };
}

export function openingOf({ choices, created }: Answer): Opening {
  const [first] = choices;
  const { ref, call, answer } = first!;
  return {
    ref,
    version: call.by.version,
    created,
    promptIds: answer.promptIds,
    promptTokens: answer.tokens.prompt,
    told: toldOf(first!),
  };
}

/** What is said of it, then what else the answer has. Thoughts end with the first word after them. */
async function* partOf(
  part: 'reasoning' | 'content',
  answer: Promise<Answer>,
  live: LiveAnswer | undefined,
): AsyncGenerator<string> {
  let told = '';
  for (let said = await live?.next(); said !== undefined; said = await live?.next()) {
    const piece = said[part];
    if (piece === undefined) return;
    live?.take();
    told += piece;
    yield piece;
  }
  const { message } = (await answer).choices[0]!;
  const whole = message[part] ?? '';
  yield* pieces(whole.startsWith(told) ? whole.slice(told.length) : whole);
}
