/** What credit alone does, on tables of logits: small, exact to the last digit for a seed, and no evidence about a recipe. */

import type { Table } from './experiment.ts';
import { answerLength } from './tables/answer-length.ts';
import { cooperation } from './tables/cooperation.ts';
import { critic } from './tables/critic.ts';
import { eGrpo } from './tables/e-grpo.ts';
import { gRa } from './tables/g-ra.ts';
import { gigpo } from './tables/gigpo.ts';
import { gradients } from './tables/gradients.ts';
import { hgpo } from './tables/hgpo.ts';
import { singleEpisodes } from './tables/single-episodes.ts';
import { smallGroups } from './tables/small-groups.ts';
import { spaRl } from './tables/spa-rl.ts';
import { stepScores } from './tables/step-scores.ts';
import { turnGae } from './tables/turn-gae.ts';
import { turnRewards } from './tables/turn-rewards.ts';
import { voidTurns } from './tables/void-turns.ts';

export const tables: readonly Table[] = [
  answerLength,
  cooperation,
  critic,
  eGrpo,
  gRa,
  gigpo,
  gradients,
  hgpo,
  singleEpisodes,
  smallGroups,
  spaRl,
  stepScores,
  turnGae,
  turnRewards,
  voidTurns,
];
