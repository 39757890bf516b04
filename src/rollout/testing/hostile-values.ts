/** Values that break whoever handles them without care. Each is made anew, since some break once. */

import { TurnwiseError } from '../../core/errors.ts';

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

const trapped = (): object =>
  new Proxy(
    {},
    {
      get: () => {
        throw new Error('trap');
      },
      ownKeys: () => {
        throw new Error('trap');
      },
      getPrototypeOf: () => {
        throw new Error('trap');
      },
    },
  );

const throwingGetter = (): object => ({
  get field(): never {
    throw new Error('getter');
  },
});

const circular = (): object => {
  const ring: { self?: object } = {};
  ring.self = ring;
  return ring;
};

const deep = (): object => {
  let nested: object = {};
  for (let level = 0; level < 20_000; level++) nested = { nested };
  return nested;
};

/** Things to throw. */
export const hostileThrows: readonly (() => unknown)[] = [
  () => ({
    toString() {
      throw new Error('toString');
    },
  }),
  () => ({ toString: 1, valueOf: 2 }),
  () => Object.create(null),
  () =>
    Object.defineProperty(new Error('x'), 'message', {
      get: () => {
        throw new Error('message');
      },
    }),
  () => ({
    message: {
      toString: () => {
        throw new Error('message');
      },
    },
  }),
  () => ({ [Symbol.for('turnwise.error')]: true, code: 'engine-failed' }),
  () => new TurnwiseError('engine-failed', { what: 'An environment says so' }),
  () => Symbol('thrown'),
  () => null,
  () => undefined,
  () => 7n,
  () => 'x'.repeat(1_000_000),
  () => new Error('x'.repeat(1_000_000)),
  revoked,
  trapped,
];

/** Things to give back instead of what was asked for. */
export const wrongValues: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => 7,
  () => Number.NaN,
  () => 1e308,
  () => 7n,
  () => true,
  () => Symbol('given'),
  () => () => 7,
  () => [null],
  () => [{ role: 'nobody', content: 'x' }],
  () => [{ role: 'user', content: null }],
  () => [{ role: 'user', content: 'x'.repeat(1_100_000) }],
  () => new Array(4_000_000_000),
  () => ({}),
  () => new Map(),
  () => 'nobody',
  throwingGetter,
  circular,
  revoked,
  trapped,
];

/** Things to say in `info`. */
export const hostileInfo: readonly (() => unknown)[] = [
  () => 7n,
  () => () => 7,
  () => new Map(),
  () => ({ inside: Number.NaN }),
  () => 'x'.repeat(2_000_000),
  () => new Array(4_000_000_000),
  () => ({ credit: null }),
  () => ({ credit: { progres: 1 } }),
  () => ({ credit: { progress: 1e308 } }),
  throwingGetter,
  circular,
  deep,
  revoked,
  trapped,
];
