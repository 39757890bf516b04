/** Contracts and helpers for authors of environments, games and live sessions. @module */

export { type Base, type Based, type DataPath, defineBase } from '../env/base.ts';
export {
  defineEnvironment,
  type Environment,
  type EnvironmentDefinition,
  type NaturalWording,
  type Split,
  type Step,
  type TaskSet,
  type Tasks,
} from '../env/environment.ts';
export { defineWorld, type WorldFactory } from '../env/factory.ts';
export { fromEnvironment } from '../env/from-environment.ts';
export { fromGame } from '../env/from-game.ts';
export { defineGame, type Game, type GameDefinition, type GameStep } from '../env/game.ts';
export { brokenLaw, brokenWorldLaw } from '../env/laws/environment-laws.ts';
export { defineSession, type SessionDefinition } from '../env/live/define-session.ts';
export {
  defineTools,
  type Score,
  type ToolEpisode,
  type ToolMove,
  type ToolsDefinition,
  type ToolUse,
} from '../env/live/define-tools.ts';
export { type Mix, type MixEntry, type MixOptions, mix } from '../env/mix/mix.ts';
export type { ActionProtocol, ParsedAction } from '../env/protocol.ts';
export { rawProtocol } from '../env/raw-protocol.ts';
export { createRuntime } from '../env/runtime/create-runtime.ts';
export type {
  CallLimits,
  Language,
  RunResult,
  Runtime,
  RuntimeFiles,
  RuntimeLimits,
} from '../env/runtime/runtime.ts';
export type { GroupScore, JudgeModel, ScoreContext, ScoreGroup } from '../env/scores/group-scores.ts';
export { type RelativeJudgeOptions, relativeJudge } from '../env/scores/relative-judge.ts';
export {
  AGENT,
  type Role,
  type Session,
  type Snapshot,
  type SnapshotCost,
  type StepResult,
} from '../env/session.ts';
export { tagProtocol } from '../env/tag-protocol.ts';
export { drawnTasks } from '../env/tasks/drawn-tasks.ts';
export { defineTool, type Tool, type ToolDefinition } from '../env/tool.ts';
export { answerAction, callTool, toolAction, toolProtocol } from '../env/tool-protocol.ts';
export {
  type SimulatedUser,
  type SimulatedUserDefinition,
  simulateUser,
  type UserScript,
  type UserTurn,
} from '../env/user/simulate-user.ts';
export { END_MARK, type UserInEpisode } from '../env/user/talk.ts';
export {
  type ExampleTurn,
  type GameWording,
  gameSentences,
  naturalOpening,
  type Wording,
  wordingOption,
} from '../env/wording.ts';
export type { PlayerKind, ThoughtToCorrect, World } from '../env/world.ts';
export { type Chained, type ChainedOptions, chained } from '../env/wrap/chained.ts';
export { type FaultOptions, type Faulty, faults } from '../env/wrap/faults.ts';
export { type Patched, type PatchOptions, patched } from '../env/wrap/patched.ts';
export { type Reminded, type ReminderOptions, reminders } from '../env/wrap/reminders.ts';
export { type Attempted, type UnaryFeedbackOptions, unaryFeedback } from '../env/wrap/unary-feedback.ts';
