/** A restricted completion on its way: what may come next in it. */

/** `ChoiceWalk` goes along choices, `GrammarWalk` along a grammar. */
export interface Walk {
  /** Resolves when `next` may be asked. Absent: at any time. */
  ready?(): Promise<void>;
  /** The ids that may come next, ascending. */
  next(): Int32Array;
  /** The id that alone may come next, where that is known without the model. */
  forced(): number | undefined;
  take(id: number): void;
  /** Whether nothing may come any more. */
  readonly ended: boolean;
  /** Nobody walks on. */
  free?(): void;
}
