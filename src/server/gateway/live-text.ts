/** The words of an answer while they are sampled: what is settled is told at once, and what a stop string ends is not sampled on. */

import { type Settled, withoutPart } from '../../model/chat/settled-text.ts';
import type { Said } from './chat-model.ts';

/** Tokens after which the text before them is not decoded again. */
const WINDOW = 16;
/** What a part of a character is decoded to. */
const PART = /\uFFFD+$/;

export interface LiveTextOptions {
  /** The text of ids. */
  readonly textOf: (ids: readonly number[]) => string;
  readonly stops: readonly string[];
  /** What an unfinished text says for certain. */
  readonly settled: (text: string) => Settled;
  readonly say?: ((said: Said) => void) | undefined;
}

export class LiveText {
  readonly #options: LiveTextOptions;
  readonly #ids: number[] = [];
  /** The text of the ids before `#known`, of which those from `#from` on are decoded with what follows. */
  #before = '';
  #from = 0;
  #known = 0;
  #told: Settled = { reasoning: '', content: '' };

  constructor(options: LiveTextOptions) {
    this.#options = options;
  }

  /** One more id. Returns whether more are wanted. */
  hear(id: number): boolean {
    this.#ids.push(id);
    const { stops, settled, say } = this.#options;
    const text = this.#text();
    const stop = Math.min(...stops.map((one) => text.indexOf(one)).filter((at) => at >= 0));
    const goesOn = stop === Number.POSITIVE_INFINITY;
    if (say) this.#tell(settled(goesOn ? withoutPart(text, stops) : text.slice(0, stop)), say);
    return goesOn;
  }

  #text(): string {
    const { textOf } = this.#options;
    const head = textOf(this.#ids.slice(this.#from, this.#known));
    const whole = textOf(this.#ids.slice(this.#from));
    const text = this.#before + whole.slice(head.length);
    if (PART.test(text)) return text.replace(PART, '');
    if (this.#ids.length - this.#known >= WINDOW) {
      this.#before = text;
      this.#from = this.#known;
      this.#known = this.#ids.length;
    }
    return text;
  }

  #tell({ reasoning, content }: Settled, say: (said: Said) => void): void {
    const before = this.#told;
    const thought = reasoning.slice(before.reasoning.length);
    const words = content.slice(before.content.length);
    if (thought !== '') say({ reasoning: thought });
    if (words !== '') say({ content: words });
    this.#told = {
      reasoning: before.reasoning + thought,
      content: before.content + words,
    };
  }
}
