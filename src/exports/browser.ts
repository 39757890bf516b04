/** Training in a browser: the loop over `onnxruntime-web`, which whoever uses it brings. @module */

export { type GradientCheck, gradientsAgree } from '../browser/gradient-check.ts';
export type { ArchivedFile } from '../browser/tar.ts';
export {
  type BrowserRun,
  type BrowserRunOptions,
  type PlayedEpisodes,
  trainInBrowser,
} from '../browser/train.ts';
export { frozenLake, guessNumber, kuhnPoker, maze, wordle } from '../browser/worlds.ts';
export { defineEnvironment, type Environment, type Step } from '../env/environment.ts';
export { defineGame, type Game } from '../env/game.ts';
export type { Provider, WebRuntime } from '../graph/browser/loaded-graph.ts';
export type { TrainSettings } from '../train/config/config.ts';
export type { RunEvent, RunSummary } from '../train/loop/events.ts';
export { recipes } from '../train/recipes/recipes.ts';
