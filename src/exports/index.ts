/**
 * Train agents by multi-turn reinforcement learning: define an environment, train, look at what happened.
 *
 * @module
 */

export { z } from 'zod';
export type {
  ByRole,
  Call,
  Choice,
  Episode,
  EpisodeKey,
  Group,
  Place,
  Role,
  Split,
  Transition,
} from '../core/episode.ts';
export { TurnwiseError } from '../core/errors.ts';
export type { Json, JsonObject } from '../core/json/json.ts';
export type { JsonCompatible } from '../core/json/json-compatible.ts';
export { assistant, type Message, system, user } from '../core/messages.ts';
export type { At, Remembers } from '../core/remembers.ts';
export { Rng } from '../core/rng.ts';
export { type Sample, samplesOf } from '../core/sample.ts';
export { isTrainable, type StopReason } from '../core/stop.ts';
export { type RoleGroup, roleGroups, type Trajectory, type Turn } from '../core/trajectory.ts';
export {
  type ChoiceRound,
  type Chosen,
  type Curation,
  type DefinedCuration,
  defineCuration,
  type Insertion,
} from '../curation/curation.ts';
export {
  type DefinedTasks,
  defineTasks,
  type GroupRequest,
  type Round,
  type TaskRef,
  type TaskSource,
} from '../curation/task-source.ts';
export {
  type Agent,
  type AgentDefinition,
  type AgentEpisode,
  type AgentResult,
  defineAgent,
  type TeacherAnswer,
  type TeacherRequest,
} from '../env/agent.ts';
export {
  defineEnvironment,
  type Environment,
  type Step,
  type TaskSet,
} from '../env/environment.ts';
export type { EvaluationResult } from '../eval/evaluate.ts';
export type { History, Prompt, Renderer } from '../model/chat/renderer.ts';
export { type ContextStrategy, defineContext } from '../rollout/context.ts';
export {
  type DefinedTurns,
  defineTurns,
  type TurnControl,
  type TurnDecision,
  type TurnView,
} from '../rollout/turns/turn-control.ts';
export type { Definition } from '../run/load/definitions.ts';
export type { WorldInput } from '../run/load/world-object.ts';
export type { CheckpointChoice, EvaluateOptions, PlayOptions, Run } from '../run/run.ts';
export type { RunSettings } from '../run/settings/run-definitions.ts';
export { csv } from '../run/sinks/csv.ts';
export { jsonLines } from '../run/sinks/json-lines.ts';
export type { Sink, SinkRun } from '../run/sinks/sink.ts';
export type { TrainConfig, TrainSettings } from '../train/config/config.ts';
export type { Metrics, RunEvent, RunSummary, StoredEvent } from '../train/loop/events.ts';
export {
  type ChosenRecipe,
  defineRecipe,
  type Recipe,
  type RecipeDefinition,
  type RecipeFunction,
} from '../train/recipes/recipe.ts';
export { recipes } from '../train/recipes/recipes.ts';
export { type ResumeOptions, type RunOptions, resume, type StartOptions, start, train } from './train.ts';
