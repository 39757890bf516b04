/** Memory that training lanes in different threads share: the weights, and gradients on their way to who applies them. */

import type { Weight, Weights } from '../../../model/checkpoint/safetensors.ts';

export interface SharedParameters {
  readonly weights: Map<string, Weight>;
  /** Which lane applies AdamW to a parameter. */
  readonly owners: ReadonlyMap<string, number>;
  /** For each lane: where it leaves its gradients of the parameters that others own. */
  readonly mailboxes: readonly ReadonlyMap<string, Float32Array>[];
}

/** A copy of the weights that all lanes see; each lane owns about as many of them. */
export function shareParameters(weights: Weights, lanes: number): SharedParameters {
  const load = Array.from({ length: lanes }, () => 0);
  const owners = new Map<string, number>();
  for (const [name, { data }] of [...weights].sort(([, a], [, b]) => b.data.length - a.data.length)) {
    const owner = load.indexOf(Math.min(...load));
    owners.set(name, owner);
    load[owner]! += data.length;
  }
  const mailboxOf = (lane: number): Map<string, Float32Array> =>
    new Map(
      [...weights]
        .filter(([name]) => owners.get(name) !== lane)
        .map(([name, { data }]) => [name, sharedArray(data.length)]),
    );
  const shared = new Map<string, Weight>();
  for (const [name, { shape, data }] of weights) {
    const copy = sharedArray(data.length);
    copy.set(data);
    shared.set(name, { shape, data: copy });
  }
  return { weights: shared, owners, mailboxes: load.map((_, lane) => mailboxOf(lane)) };
}

function sharedArray(length: number): Float32Array {
  return new Float32Array(new SharedArrayBuffer(length * Float32Array.BYTES_PER_ELEMENT));
}

/** One lane's side of the shared memory. Its own weights are a copy, since the runtime refuses shared memory. */
export class ParameterExchange {
  readonly #shared: SharedParameters;
  readonly #lane: number;

  constructor(shared: SharedParameters, lane: number) {
    this.#shared = shared;
    this.#lane = lane;
  }

  /** Those that all lanes see. */
  get weights(): Weights {
    return this.#shared.weights;
  }

  owns(name: string): boolean {
    return this.#shared.owners.get(name) === this.#lane;
  }

  /** Leaves the gradients of what others own for them. */
  post(gradients: ReadonlyMap<string, Float32Array>): void {
    for (const [name, mailbox] of this.#shared.mailboxes[this.#lane]!) mailbox.set(gradients.get(name)!);
  }

  /** The gradients that others left for this parameter, in the order of the lanes. */
  posted(name: string): Float32Array[] {
    return this.#shared.mailboxes.flatMap((mailboxes) => mailboxes.get(name) ?? []);
  }

  /** Takes over the weights that others own. */
  catchUp(weights: Weights): void {
    for (const [name, { data }] of weights)
      if (!this.owns(name)) data.set(this.#shared.weights.get(name)!.data);
  }
}
