/** Every command, in the order in which the help lists them. */

import type { Command } from './command.ts';
import { compareCommand } from './commands/compare.ts';
import { creditCommand } from './commands/credit.ts';
import { dataCommand } from './commands/data.ts';
import { envCommand } from './commands/env.ts';
import { envsCommand } from './commands/envs.ts';
import { evalCommand } from './commands/eval.ts';
import { exportCommand } from './commands/export.ts';
import { gatewayCommand } from './commands/gateway.ts';
import { playCommand } from './commands/play.ts';
import { recipesCommand } from './commands/recipes.ts';
import { replayCommand } from './commands/replay.ts';
import { rescoreCommand } from './commands/rescore.ts';
import { resumeCommand } from './commands/resume.ts';
import { rewardModelCommand } from './commands/reward-model.ts';
import { runsCommand } from './commands/runs.ts';
import { serveCommand } from './commands/serve.ts';
import { tailCommand } from './commands/tail.ts';
import { trainCommand } from './commands/train.ts';
import { viewCommand } from './commands/view.ts';

export const commands: readonly Command[] = [
  trainCommand,
  resumeCommand,
  evalCommand,
  playCommand,
  exportCommand,
  envsCommand,
  gatewayCommand,
  dataCommand,
  rewardModelCommand,
  envCommand,
  runsCommand,
  viewCommand,
  tailCommand,
  replayCommand,
  rescoreCommand,
  compareCommand,
  recipesCommand,
  creditCommand,
  serveCommand,
];
