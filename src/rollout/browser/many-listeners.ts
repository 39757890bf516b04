/** The twin of node/many-listeners.ts: browsers count no listeners. */
export function allowManyListeners(_signal: AbortSignal): void {}
