import { expect, test } from 'vitest';
import { endingSoon } from './interrupts.ts';

test('work that hears the signal ends by itself, and work that does not is left behind', async () => {
  const stop = new AbortController();
  let finished = false;
  const hears = new Promise<void>((resolve) => {
    stop.signal.addEventListener('abort', () => setTimeout(resolve, 20));
  }).then(() => {
    finished = true;
  });
  const deaf = new Promise<void>(() => {});
  const outcomes = Promise.allSettled([endingSoon(hears, stop.signal), endingSoon(deaf, stop.signal)]);
  stop.abort();
  const [heard, left] = await outcomes;
  expect(heard.status).toBe('fulfilled');
  expect(finished).toBe(true);
  expect(left).toMatchObject({ status: 'rejected', reason: { code: 'interrupted' } });
});

test('a signal that came before the work counts, and what fails by itself fails so', async () => {
  await expect(endingSoon(new Promise(() => {}), AbortSignal.abort())).rejects.toMatchObject({
    code: 'interrupted',
  });
  const { signal } = new AbortController();
  await expect(endingSoon(Promise.reject(new Error('own')), signal)).rejects.toThrow('own');
});
