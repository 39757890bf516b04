/** Do synchronous work that is known as `what` while it lasts. */
export type Watch = <T>(what: string, work: () => T) => T;

/** Nobody watches: for tests and benchmarks. */
export const unwatched: Watch = (_what, work) => work();
