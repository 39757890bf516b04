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
  EpisodeScore,
  Group,
  Part,
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
export { fictitiousShares } from '../curation/tasks/league/draw.ts';
export {
  defineLeague,
  type LeagueDefinition,
  type LeagueMember,
  type LeagueMoment,
  type LeagueOptions,
} from '../curation/tasks/league/league.ts';
export { expectedScore, rated } from '../curation/tasks/league/rating.ts';
export {
  type DefinedTasks,
  defineTasks,
  type GroupRequest,
  type Round,
  type Seatable,
  type TaskRef,
  type TaskSource,
} from '../curation/tasks/task-source.ts';
export {
  type Agent,
  type AgentDefinition,
  type AgentEpisode,
  type AgentResult,
  defineAgent,
  type TeacherAnswer,
  type TeacherRequest,
} from '../env/agent.ts';
export { type Base, type Based, type DataPath, defineBase } from '../env/base.ts';
export { type CommandAgentDefinition, defineCommandAgent } from '../env/command/node/command-agent.ts';
export {
  defineEnvironment,
  type Environment,
  type EnvironmentDefinition,
  type Step,
  type TaskSet,
  type Tasks,
} from '../env/environment.ts';
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
export type { GroupScore, JudgeModel, ScoreContext, ScoreGroup } from '../env/scores/group-scores.ts';
export { type RelativeJudgeOptions, relativeJudge } from '../env/scores/relative-judge.ts';
export { drawnTasks } from '../env/tasks/drawn-tasks.ts';
export { defineTool, type Tool, type ToolDefinition } from '../env/tool.ts';
export type { EvaluationResult } from '../eval/evaluate.ts';
export type { Renderer } from '../model/chat/renderer.ts';
export {
  type DefinedPrompts,
  definePrompts,
  type PromptedGroup,
  type PromptSource,
} from '../prompts/prompt-source.ts';
export {
  type DefinedProposer,
  defineProposer,
  type Proposal,
  type Propose,
  type ProposerDefinition,
} from '../prompts/proposer.ts';
export {
  type Ask,
  type ContextStrategy,
  type Conversation,
  defineContext,
  type StrategyParts,
  type View,
  type Window,
} from '../rollout/context/strategy.ts';
export {
  type DefinedTurns,
  defineTurns,
  type TurnControl,
  type TurnDecision,
  type TurnView,
} from '../rollout/turns/turn-control.ts';
export type { Definition } from '../run/load/definitions.ts';
export type { WorldInput } from '../run/load/world-object.ts';
export { type RewardScores, rewardModel } from '../run/reward/open-reward-model.ts';
export type { CheckpointChoice, EvaluateOptions, PlayOptions, Run } from '../run/run.ts';
export { csv } from '../run/sinks/csv.ts';
export { jsonLines } from '../run/sinks/json-lines.ts';
export { type OtlpOptions, otlp } from '../run/sinks/otlp/otlp.ts';
export type { RunEnd, Sink, SinkRun, StoredEpisodes } from '../run/sinks/sink.ts';
export { tensorboard } from '../run/sinks/tensorboard/tensorboard.ts';
export { type WandbOptions, wandb } from '../run/sinks/wandb/wandb.ts';
export type { TrainConfig, TrainSettings } from '../train/config/config.ts';
export type { RunSettings } from '../train/config/setting-objects.ts';
export type { Metrics, RunEvent, RunSummary, StoredEvent } from '../train/loop/events.ts';
export type { Probe, ProbedLearner, ProbeMoment, Seen } from '../train/loop/probe.ts';
export {
  type ChosenRecipe,
  defineRecipe,
  type Recipe,
  type RecipeDefinition,
  type RecipeFunction,
} from '../train/recipes/recipe.ts';
export { recipes } from '../train/recipes/recipes.ts';
export { type ResumeOptions, type RunOptions, resume, type StartOptions, start, train } from './train.ts';
