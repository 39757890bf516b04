import { expect, test } from 'vitest';
import { withoutIds } from './without-ids.ts';

test('ids and numbers go, words stay', () => {
  expect(withoutIds('step 3: 5 × timeout: 12/7/0 turn 2 took 20000 ms')).toBe(
    'step #: # × timeout: # turn # took # ms',
  );
  expect(withoutIds('session 6f1c2b9e-1c1a-4f0e-9d43-0a1b2c3d4e5f is gone')).toBe('session # is gone');
  expect(withoutIds('room-1a2b3c at 0xBEEF, http://127.0.0.1:8181/x')).toBe('# at #, http://#/x');
  expect(withoutIds('session s-aecfacafde, run_deadbeefcafe, feedfacedeadbeef')).toBe('session #, #, #');
  expect(withoutIds('the door is locked')).toBe('the door is locked');
});
