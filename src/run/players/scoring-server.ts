/**
 * A server that tells the log-probabilities of a prompt, as a teacher. It is sent token ids. Two forms are read:
 *
 * - `vllm:` asks for `prompt_logprobs`, which names each token by its id, the likeliest ones among them.
 * - `openai:` asks for an echo with `logprobs`, which tells a number for each token, and its text.
 *
 * No server tells its tokenizer, so the texts of its tokens are compared with ours: all of every row.
 */

import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { ScoreRequest, TokenScores } from '../../engine/engine.ts';
import { loadPretrainedLanguage } from '../../model/tokenizer/pretrained-language.ts';
import type { SpendMeter } from '../../server/gateway/spend.ts';
import type { UpstreamOptions } from '../../server/gateway/upstream/upstream-model.ts';
import { post } from '../../server/gateway/upstream/upstream-post.ts';
import type { Teacher } from '../../train/kit/learner.ts';
import type { PretrainedCard } from '../../train/model-card.ts';

interface ServerOptions {
  readonly card: PretrainedCard;
  readonly spend: Pick<SpendMeter, 'paid'>;
  readonly signal: AbortSignal;
}

const told = z.object({ logprob: z.number(), decoded_token: z.string().nullish() });
const answer = z.object({
  choices: z
    .array(
      z.object({
        prompt_logprobs: z.array(z.record(z.string(), told).nullable()).nullish(),
        logprobs: z
          .object({ tokens: z.array(z.string()), token_logprobs: z.array(z.number().nullable()) })
          .nullish(),
      }),
    )
    .min(1),
});

/** What a server said of the tokens of one row: their texts, log-probabilities, and the likeliest where they were asked for. */
interface Reading {
  readonly texts: readonly (string | undefined)[];
  readonly logprobs_T: Float32Array;
  readonly top?: { readonly ids: Int32Array; readonly logprobs: Float32Array };
}

/** Rows that are asked for at once. */
const AT_ONCE = 8;

export async function scoringServer(
  upstream: UpstreamOptions,
  { card, spend, signal }: ServerOptions,
): Promise<Teacher & { close(): Promise<void> }> {
  const { tokenizer } = await loadPretrainedLanguage(card.base.folder, card.shape.vocabulary);
  const url = `${upstream.url.replace(/\/+$/, '')}/completions`;
  const read = async (ids_T: Int32Array, count: number): Promise<Reading> => {
    const ids = Array.from(ids_T);
    const asked = { model: upstream.model, prompt: ids, temperature: 1 };
    const form = upstream.tokenIds
      ? { ...asked, max_tokens: 1, prompt_logprobs: count }
      : { ...asked, max_tokens: 0, echo: true, logprobs: 1 };
    const body = await spend.paid(ids.length, () => post(url, form, { ...upstream, signal }));
    const checked = answer.safeParse(body);
    const [choice] = checked.success ? checked.data.choices : [];
    const reading = upstream.tokenIds
      ? byIds(choice?.prompt_logprobs, ids, count)
      : echoed(choice?.logprobs, ids);
    // Without texts nothing says that the ids mean the same there.
    if (reading === undefined || reading.texts.slice(1).includes(undefined)) throw tellsNothing(upstream);
    const at = reading.texts.findIndex(
      (text, token) => text !== undefined && token > 0 && !sameText(text, tokenizer.decode([ids[token]!])),
    );
    if (at >= 0) throw otherTokenizer(upstream, ids[at]!, reading.texts[at]!, tokenizer.decode([ids[at]!]));
    return reading;
  };
  return {
    score: async ({ rows, allowed_B }, options) => {
      requireReadable(upstream, options, allowed_B !== undefined);
      const readings: Reading[] = [];
      for (let from = 0; from < rows.length; from += AT_ONCE) {
        const part = rows.slice(from, from + AT_ONCE);
        readings.push(...(await Promise.all(part.map(({ ids_T }) => read(ids_T, options.top ?? 0)))));
      }
      return {
        logprobs: readings.map(({ logprobs_T }) => logprobs_T),
        ...(options.top && { top: readings.map(({ top }) => top!) }),
      } satisfies TokenScores;
    },
    close: async () => {},
  };
}

/** A token may be a part of a character, which decoders write in different ways. */
const sameText = (theirs: string, ours: string): boolean =>
  theirs.trim() === ours.trim() || theirs.startsWith('bytes:') || `${theirs}${ours}`.includes('\uFFFD');

/** vLLM's `prompt_logprobs`: nothing for the first token, then an object by id, the token itself in it. */
function byIds(
  given: z.output<typeof answer>['choices'][number]['prompt_logprobs'],
  ids: readonly number[],
  count: number,
): Reading | undefined {
  if (given?.length !== ids.length) return undefined;
  const top = {
    ids: new Int32Array(ids.length * count),
    logprobs: new Float32Array(ids.length * count).fill(-1e9),
  };
  const logprobs_T = new Float32Array(ids.length);
  const texts: (string | undefined)[] = [undefined];
  for (let token = 1; token < ids.length; token++) {
    const own = given[token]?.[ids[token]!];
    if (own === undefined) return undefined;
    logprobs_T[token] = own.logprob;
    texts.push(own.decoded_token ?? undefined);
    const likeliest = Object.entries(given[token]!).sort(([, a], [, b]) => b.logprob - a.logprob);
    for (const [place, [id, { logprob }]] of likeliest.slice(0, count).entries()) {
      top.ids[token * count + place] = Number(id);
      top.logprobs[token * count + place] = logprob;
    }
  }
  return { texts, logprobs_T, ...(count > 0 && { top }) };
}

/** An echo: a text and a number for each token of the prompt, and nothing more. */
function echoed(
  given: z.output<typeof answer>['choices'][number]['logprobs'],
  ids: readonly number[],
): Reading | undefined {
  const { tokens, token_logprobs } = given ?? { tokens: [], token_logprobs: [] };
  if (tokens.length !== ids.length || token_logprobs.length !== ids.length) return undefined;
  if (token_logprobs.slice(1).some((logprob) => logprob === null)) return undefined;
  return { texts: tokens, logprobs_T: Float32Array.from(token_logprobs, (logprob) => logprob ?? 0) };
}

function requireReadable(
  upstream: UpstreamOptions,
  { temperature, top }: ScoreRequest,
  restricted: boolean,
): void {
  const unreadable = (what: string, seen: string, next: string): TurnwiseError =>
    new TurnwiseError('teacher-unfit', {
      what: `A server as teacher ${what}`,
      seen,
      next,
      fields: { key: 'teacher', url: upstream.url },
    });
  if (temperature !== 1)
    throw unreadable(
      'tells log-probabilities at temperature 1 only',
      `temperature ${temperature}`,
      'Train with rollout.temperature 1, or with a teacher on this machine',
    );
  if (restricted)
    throw unreadable(
      'normalises over the whole vocabulary, and completions were restricted to choices',
      'rollout.choices',
      'Sample without choices, or with a teacher on this machine',
    );
  if (top && !upstream.tokenIds)
    throw unreadable(
      'tells its likeliest tokens by text, from which ids cannot be told with certainty',
      `openai:${upstream.url}`,
      'Use vllm:URL, which names them by id, or a teacher on this machine',
    );
}

function tellsNothing({ url, tokenIds }: UpstreamOptions): TurnwiseError {
  return new TurnwiseError('teacher-unfit', {
    what: 'The server does not tell the log-probability of every token of a prompt, so it cannot be a teacher',
    seen: `an answer of ${url}/completions without ${tokenIds ? 'prompt_logprobs' : 'an echo with logprobs'} for each of the ids that it was sent`,
    allowed:
      'a server that takes token ids as a prompt: vllm:URL for prompt_logprobs, openai:URL for echo and logprobs',
    fields: { key: 'teacher', url },
  });
}

function otherTokenizer({ url }: UpstreamOptions, id: number, seen: string, own: string): TurnwiseError {
  return new TurnwiseError('teacher-unfit', {
    what: `The server ${url} has another tokenizer than the policy: token ${id} is other text there, so it cannot score the policy's tokens`,
    seen: JSON.stringify(seen),
    allowed: JSON.stringify(own),
    next: 'Use a teacher with the same tokenizer, such as a larger model of the same family',
    fields: { key: 'teacher', url },
  });
}
