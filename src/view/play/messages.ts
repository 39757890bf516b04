/** What the viewer and the process that plays tell each other. All of it is plain JSON. */

import type { ShownMessage } from '../shapes.ts';

/** An episode of a run, and how many of its turns are taken from the record. */
export interface RecordedPlace {
  readonly place: string;
  readonly group: number;
  readonly member: number;
  readonly label?: string;
  readonly turns: number;
}

/**
 * What is done with a recorded episode in place of going on with it: its states drawn again, continuations played from each of
 * its turns, or its tokens scored by a checkpoint.
 */
export type PlayWork = 'states' | 'measure' | 'entropies';

/** Where an episode begins: a task, or a turn of one that was recorded. */
export interface PlayRequest {
  readonly run: string;
  /** Which checkpoint; default: the last. */
  readonly checkpoint?: number;
  readonly split: 'train' | 'validation' | 'test';
  /** Index of the task; of a recorded episode, that of the episode. */
  readonly task: number;
  /** A recorded episode, gone on with after so many turns. */
  readonly from?: RecordedPlace;
  /** Needs `from`. */
  readonly work?: PlayWork;
  /** Of each turn that is measured. */
  readonly continuations?: number;
  /** Names the chance of the sampler, so that the same turn can be tried again. */
  readonly attempt: number;
}

/** What the policy does next: sample one turn, sample all that follow, or do as a person says. */
export type PlayMove =
  | { readonly kind: 'sample' }
  | { readonly kind: 'rest' }
  | { readonly kind: 'type'; readonly text: string };

export interface ShownChoice {
  readonly piece: string;
  readonly logprob: number | null;
}

/** How the continuations from a place went for a role. */
export interface MeasuredRole {
  /** Share that succeeded. */
  readonly success: number;
  /** 95 % (Wilson). */
  readonly interval: readonly [number, number];
  /** Mean; null where none came to an end. */
  readonly return: number | null;
}

export type PlayEvent =
  | { readonly kind: 'open'; readonly world: string; readonly task: string; readonly checkpoint: number }
  | {
      /** Somebody must move. */
      readonly kind: 'state';
      readonly turn: number;
      readonly role: string;
      readonly picture?: string;
      /** New since the last turn of the role. */
      readonly messages: readonly ShownMessage[];
      readonly actions?: readonly string[];
      /** How an action is written. */
      readonly form: string;
      /** It was recorded, and is played again. */
      readonly replayed: boolean;
      /** Who moves here of itself: nobody is asked. */
      readonly player?: string;
    }
  | {
      readonly kind: 'turn';
      readonly turn: number;
      readonly by: 'policy' | 'person' | 'record' | 'other';
      /** Name of the other one: neither the checkpoint nor whoever plays in its place. */
      readonly player?: string;
      readonly text: string;
      readonly pieces?: readonly string[];
      readonly joint: string;
      readonly ids: readonly number[];
      readonly logprobs: readonly (number | null)[];
      /** The likeliest at each place. */
      readonly top?: readonly (readonly ShownChoice[])[];
    }
  | {
      readonly kind: 'end';
      readonly stop: string;
      readonly failure?: string;
      readonly success: Readonly<Record<string, boolean>>;
      readonly outcome: Readonly<Record<string, number | null>>;
      readonly rewards: readonly (number | null)[];
      /** Of a record that was played to its end: what of its end is not as it was recorded. */
      readonly differs?: readonly string[];
    }
  | {
      /** Continuations from a place of a recorded episode, before its next turn. */
      readonly kind: 'measured';
      /** Turns of the record that came before: 0 is the start. */
      readonly turn: number;
      /** Of how many places there are. */
      readonly of: number;
      /** That came to an end; those that failed are not counted. */
      readonly played: number;
      readonly roles: Readonly<Record<string, MeasuredRole>>;
    }
  | {
      /** Entropies of the sampled tokens of a call, in nats. */
      readonly kind: 'entropies';
      readonly call: number;
      readonly entropies: readonly (number | null)[];
    }
  | { readonly kind: 'done'; readonly checkpoint?: number }
  | { readonly kind: 'problem'; readonly code: string; readonly message: string };
