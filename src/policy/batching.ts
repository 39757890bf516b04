/** When the completions that episodes wait for are asked for. */

/** A completion that an episode waits for. */
export interface Waiting {
  /** Its episode, `/`, and its name there. Orders requests that are made together. */
  readonly conversation: string;
  /** Asks for it; called once, and at once with those of the same batch. */
  send(): void;
}

/** Decides how many are asked for together. Episodes under way enter before any of them starts, and leave when they end. */
export interface Batching {
  enter(): void;
  leave(): void;
  /** An episode waits. */
  wait(waiting: Waiting): void;
}

/** Nobody is waited for: each completion is asked for when it is wanted, and joins those that the engine has under way. */
export const continuous: Batching = {
  enter: () => undefined,
  leave: () => undefined,
  wait: (waiting) => waiting.send(),
};
