/**
 * Loaded before a command: what is no longer used is collected every second, in each thread. What is weighed then is what a process
 * keeps; by itself Node lets garbage lie until it needs the room, and a heap that holds still looks as if it grew.
 */

const EVERY_MS = 1000;

setInterval(() => {
  globalThis.gc?.();
}, EVERY_MS).unref();
