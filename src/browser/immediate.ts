/** `setImmediate`, which browsers lack: after what waits now, before any timer. A timer of 0 would wait four milliseconds. */

type Work = (...values: readonly unknown[]) => void;

/** Gives this thread `setImmediate` where it has none. */
export function ensureImmediate(): void {
  const scope = globalThis as { setImmediate?: unknown };
  if (scope.setImmediate !== undefined) return;
  const { port1, port2 } = new MessageChannel() as unknown as Record<'port1' | 'port2', Port>;
  const waiting: (() => void)[] = [];
  port1.onmessage = () => waiting.shift()?.();
  scope.setImmediate = (work: Work, ...values: readonly unknown[]): void => {
    waiting.push(() => work(...values));
    port2.postMessage(undefined);
  };
}

/** What is used of a port, which the types of Node describe otherwise. */
interface Port {
  onmessage: () => void;
  postMessage(message: unknown): void;
}
