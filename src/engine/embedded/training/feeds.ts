/** What a graph of training or scoring reads of a micro-batch, by the names of its inputs. */

import type { Feed } from '../../../graph/node/loaded-graph.ts';
import { causalMask, treeMask } from '../../../model/decoder/forward.ts';
import { segmentsOf, turnsOf } from '../../../objective/contract/target-channels.ts';
import type { MicroBatch } from './micro-batch.ts';

/** Hides what a restricted target could not be, as attention hides what a token does not see. */
const forbidden = -1e9;

/** The feed of an input that is no weight. */
export class MicroFeeds {
  /** Of the latest length: its size is the square of that, so one for each length would never fit. */
  #mask: { readonly length: number; readonly feed: Feed } | undefined;

  /** Of these inputs; `vocabulary` is the width of a set of allowed ids. */
  of(inputNames: readonly string[], micro: MicroBatch, vocabulary: number): Record<string, Feed> {
    const { inputs, parents, next, place_N, id_N, shape } = micro;
    const N = [place_N.length];
    const computed = inputNames.includes('source') ? distinctPlaces(micro) : undefined;
    const feeds: Record<string, Feed> = {};
    for (const name of inputNames) {
      if (name === 'ids') feeds[name] = { data: inputs, shape };
      else if (name === 'next') feeds[name] = { data: next!, shape };
      else if (name === 'causalMask') feeds[name] = this.#causalMask(shape[1]);
      else if (name === 'treeMask') feeds[name] = treeMask(parents!, shape);
      else if (name === 'positions')
        feeds[name] = { data: depths(parents!, shape[1]), shape: [parents!.length, 1] };
      else if (name === 'source') feeds[name] = computed!.source;
      else if (name === 'predicted') feeds[name] = computed!.predicted;
      else if (name === 'allowed') feeds[name] = computed!.allowed;
      else if (name === 'allowedSets') feeds[name] = setMasks(micro, vocabulary);
      else if (name === 'place') feeds[name] = computed?.place ?? { data: whole(place_N), shape: N };
      else if (name === 'targets') feeds[name] = { data: whole(id_N), shape: N };
      else if (name === 'segments.row') feeds[name] = { data: segmentsOf(micro, 'row'), shape: N };
      else if (name === 'segments.turn') feeds[name] = { data: segmentsOf(micro, 'turn'), shape: N };
      else if (name.startsWith('channel.')) feeds[name] = channel(micro, name.slice('channel.'.length));
    }
    return feeds;
  }

  #causalMask(length: number): Feed {
    if (this.#mask?.length !== length) this.#mask = { length, feed: causalMask(length) };
    return this.#mask.feed;
  }
}

/** As the runtime takes whole numbers. */
function whole(values: Int32Array): BigInt64Array {
  const big = new BigInt64Array(values.length);
  for (const [index, value] of values.entries()) big[index] = BigInt(value);
  return big;
}

function channel({ channels, place_N, turn_N }: MicroBatch, name: string): Feed {
  const data = channels[name] ?? turnsOf(turn_N);
  const N = place_N.length;
  return { data, shape: data.length === N ? [N] : [N, data.length / N] };
}

/** Each place is computed once for all targets that are the same token behind the same prefix, chosen among the same ids. */
function distinctPlaces({
  place_N,
  id_N,
  allowed,
}: MicroBatch): Record<'source' | 'predicted' | 'allowed' | 'place', Feed> {
  const numbers = new Map<string, number>();
  const first: number[] = [];
  const place = Array.from(place_N, (at, target) => {
    const key = `${at} ${id_N[target]} ${allowed?.set_N[target] ?? 0}`;
    const known = numbers.get(key) ?? first.push(target) - 1;
    numbers.set(key, known);
    return known;
  });
  const of = (numberOf: (target: number) => bigint): Feed => ({
    data: BigInt64Array.from(first, numberOf),
    shape: [first.length],
  });
  return {
    source: of((target) => BigInt(place_N[target]!)),
    predicted: of((target) => BigInt(id_N[target]!)),
    allowed: of((target) => BigInt(allowed?.set_N[target] ?? 0)),
    place: { data: BigInt64Array.from(place, BigInt), shape: [place.length] },
  };
}

/** One row for each set, 0 on its ids; the first allows all. */
function setMasks({ allowed }: MicroBatch, vocabulary: number): Feed {
  const sets = allowed?.sets ?? [];
  const data = new Float32Array((sets.length + 1) * vocabulary).fill(forbidden, vocabulary);
  for (const [index, set] of sets.entries()) for (const id of set) data[(index + 1) * vocabulary + id] = 0;
  return { data, shape: [sets.length + 1, vocabulary] };
}

/** How many inputs are before each on its way from the first. */
function depths(parents: Int32Array, length: number): BigInt64Array {
  const positions = new BigInt64Array(parents.length);
  for (const [index, parent] of parents.entries())
    if (parent >= 0) positions[index] = positions[index - (index % length) + parent]! + 1n;
  return positions;
}
