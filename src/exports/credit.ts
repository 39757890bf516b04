/** Credit methods: from trajectories to advantages. Pure; no engine, no files but the one that is read. @module */

export { z } from 'zod';
export { type CreditMethod, type Description, defineCreditMethod } from '../credit/contract/method.ts';
export { creditMethods, findCreditMethod } from '../credit/methods.ts';
export { parseRollouts, readRollouts } from '../credit/report/node/read-rollouts.ts';
export { creditReport, creditTable } from '../credit/report/report.ts';
export type {
  Credit,
  CreditState,
  CreditTrajectory,
  CreditTurn,
  TrajectoryCredit,
} from '../credit/report/rollouts.ts';
export { defineShaping, type RewardShaping, type Shape } from '../credit/shaping/shaping.ts';
export { findRewardShaping, rewardShapings } from '../credit/shaping/shapings.ts';
