/** For tests of environments and of what learns in them, under any test framework. @module */

export {
  type Checked,
  type CheckOptions,
  type CheckReport,
  checkEnvironment,
  type Finding,
} from '../testing/check/check-environment.ts';
export { environmentLaws, type LawOptions } from '../testing/environment-laws.ts';
export { type FakeEngine, fakeEngine } from '../testing/fake-engine.ts';
export { type MockPolicy, mockPolicy } from '../testing/mock-policy.ts';
export { type PlayOptions, playEpisode } from '../testing/play-episode.ts';
export type { TestedWorld } from '../testing/world-under-test.ts';
