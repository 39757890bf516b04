/**
 * What models elsewhere cost: calls and tokens are counted, and no call goes beyond a limit. Answers at temperature 0 are kept by
 * their request, so that nobody pays twice for one.
 */

import { createHash } from 'node:crypto';
import { TurnwiseError } from '../../core/errors.ts';
import type { ChatModel, ModelAnswer, ModelRequest } from './chat-model.ts';

/** Of a million tokens that are read, and of a million that are written. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

export interface SpendLimits {
  readonly maxCalls?: number;
  /** Read and written, all calls together. */
  readonly maxTokens?: number;
  readonly price?: Price;
}

/** What was spent so far. */
export interface Spent {
  readonly calls: number;
  /** Calls that were answered without asking. */
  readonly cached: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** In the currency of the price; absent without one. */
  readonly cost?: number;
}

/** Answers that are kept; the oldest are dropped first. */
const MOST_ANSWERS = 10_000;

export class SpendMeter {
  readonly limits: SpendLimits;
  readonly #limited = new AbortController();
  readonly #answers: Map<string, ModelAnswer> = new Map();
  /** Under way, by the same key: who asks the same at the same time waits for that. */
  readonly #asked: Map<string, Promise<ModelAnswer>> = new Map();
  #calls = 0;
  #cached = 0;
  #promptTokens = 0;
  #completionTokens = 0;

  constructor(limits: SpendLimits = {}) {
    this.limits = limits;
  }

  get spent(): Spent {
    const { price } = this.limits;
    const [promptTokens, completionTokens] = [this.#promptTokens, this.#completionTokens];
    return {
      calls: this.#calls,
      cached: this.#cached,
      promptTokens,
      completionTokens,
      ...(price && { cost: costOf(price, promptTokens, completionTokens) }),
    };
  }

  /** Aborted when a call was refused. */
  get limited(): AbortSignal {
    return this.#limited.signal;
  }

  /** The model with its calls counted. @throws TurnwiseError `spend-limit` from its answers, beyond a limit */
  metered(model: ChatModel): ChatModel {
    return { ...model, answer: (request) => this.#answer(model, request) };
  }

  /** A call that only reads, counted. @throws TurnwiseError `spend-limit` */
  paid<T>(promptTokens: number, call: () => Promise<T>): Promise<T> {
    this.#enter();
    this.#promptTokens += promptTokens;
    return call();
  }

  async #answer(model: ChatModel, request: ModelRequest): Promise<ModelAnswer> {
    const key = request.call.temperature === 0 ? keyOf(model, request) : undefined;
    if (key === undefined) return this.#ask(model, request);
    // A question that fails, or whose client hung up, is asked by whoever waits.
    const underWay = this.#asked.get(key);
    const shared = underWay && (await underWay.catch(() => undefined));
    const known = shared ?? this.#answers.get(key);
    if (known) {
      this.#cached++;
      return known;
    }
    const asked = this.#ask(model, request);
    this.#asked.set(key, asked);
    try {
      const answer = await asked;
      this.#keep(key, answer);
      return answer;
    } finally {
      if (this.#asked.get(key) === asked) this.#asked.delete(key);
    }
  }

  async #ask(model: ChatModel, request: ModelRequest): Promise<ModelAnswer> {
    this.#enter();
    const answer = await model.answer(request);
    this.#promptTokens += answer.tokens.prompt;
    this.#completionTokens += answer.tokens.completion;
    return answer;
  }

  /** Counted before it is asked, so that calls at the same time do not pass a limit together. */
  #enter(): void {
    const { maxCalls = Number.POSITIVE_INFINITY, maxTokens = Number.POSITIVE_INFINITY } = this.limits;
    const tokens = this.#promptTokens + this.#completionTokens;
    if (this.#calls < maxCalls && tokens < maxTokens) {
      this.#calls++;
      return;
    }
    const error = spendLimit(this.spent, this.limits);
    this.#limited.abort(error);
    throw error;
  }

  #keep(key: string, answer: ModelAnswer): void {
    this.#answers.set(key, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MOST_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
  }
}

export const costOf = ({ input, output }: Price, promptTokens: number, completionTokens: number): number =>
  (input * promptTokens + output * completionTokens) / 1e6;

/** Everything that a server would be told. */
function keyOf({ author, name }: ChatModel, { call }: ModelRequest): string {
  const told = { ...call, ...(call.kind === 'chat' && { refs: undefined }) };
  return createHash('sha256')
    .update(JSON.stringify([author.name, name, told]))
    .digest('hex');
}

export function spendLimit(
  { calls, promptTokens, completionTokens }: Spent,
  limits: SpendLimits,
): TurnwiseError {
  const { maxCalls, maxTokens } = limits;
  return new TurnwiseError('spend-limit', {
    what: 'The limit of what models elsewhere may cost is reached',
    seen: `${calls} calls, ${promptTokens + completionTokens} tokens`,
    allowed: [
      ...(maxCalls === undefined ? [] : [`${maxCalls} calls`]),
      ...(maxTokens === undefined ? [] : [`${maxTokens} tokens`]),
    ].join(', '),
    next: 'What was played is kept: the same command with a higher limit goes on from there',
    fields: { origin: 'policy' },
  });
}

/** What a number of calls may cost, for a person who is about to make them. */
export function estimate(calls: number, { maxCalls, maxTokens, price }: SpendLimits): string {
  const most = Math.min(calls, maxCalls ?? calls);
  const assumed = most * (ASSUMED.prompt + ASSUMED.completion);
  const share = maxTokens === undefined ? 1 : Math.min(1, maxTokens / assumed);
  const cost = price && costOf(price, share * most * ASSUMED.prompt, share * most * ASSUMED.completion);
  return (
    `At most ${most} calls${maxTokens === undefined ? '' : ` and ${maxTokens} tokens`}` +
    (cost === undefined
      ? ''
      : `; about ${cost.toFixed(2)} if a call reads ${ASSUMED.prompt} tokens and writes ${ASSUMED.completion}`)
  );
}

/** Of a call of which nothing is known yet. */
const ASSUMED = { prompt: 1000, completion: 100 } as const;

/** What was spent, in a line. */
export function spentText({ calls, cached, promptTokens, completionTokens, cost }: Spent): string {
  return (
    `${calls} calls${cached > 0 ? ` and ${cached} answered from before` : ''}, ` +
    `${promptTokens} tokens read and ${completionTokens} written` +
    (cost === undefined ? '' : `, ${cost.toFixed(4)} spent`)
  );
}

/** `IN,OUT`, each of a million tokens. @throws TurnwiseError `option-value` */
export function parsePrice(text: string): Price {
  const [input, output, ...more] = text.split(',').map(Number);
  const isPrice = (value: number | undefined): value is number =>
    value !== undefined && Number.isFinite(value) && value >= 0;
  if (isPrice(input) && isPrice(output) && more.length === 0 && !/,\s*$|^\s*,/.test(text))
    return { input, output };
  throw new TurnwiseError('option-value', {
    what: '--price cannot be read',
    seen: text,
    allowed: 'IN,OUT: what a million tokens cost that are read, and that are written, such as 0.15,0.6',
  });
}
