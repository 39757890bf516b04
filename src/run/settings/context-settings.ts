/** The context of a command that serves a model: `context=NAME` and `context.OPTION=VALUE`, as for a run. */

import { z } from 'zod';
import type { JsonObject } from '../../core/json/json.ts';
import type { Context } from '../../rollout/context/strategy.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import { wholeSchema } from '../../train/config/run-schema.ts';
import { contextOf } from '../../train/kit/learner.ts';
import { nameInAssignments } from './run-definitions.ts';
import { spelledAssignment } from './run-settings.ts';
import { applySettings } from './settings.ts';

const NAME = 'context.name=';

/**
 * The context that assignments name. Options without a name change `base`.
 *
 * @param label the command, for messages
 * @throws TurnwiseError `setting-syntax`, `config-unknown-key`, `config-invalid`, `unknown-context`, `file-unusable`
 */
export async function readContext(
  set: readonly string[],
  label: string,
  base: TrainConfig['context'] = { name: 'full', trained: true },
): Promise<Context> {
  const { name: usual, ...options } = base;
  const spelled = set.map(spelledAssignment);
  const isNamed = spelled.some((assignment) => assignment.startsWith(NAME));
  const { set: named, catalogue } = await nameInAssignments(
    isNamed ? spelled : [`${NAME}${usual}`, ...spelled],
  );
  const name = named.findLast((assignment) => assignment.startsWith(NAME))!.slice(NAME.length);
  const { context: schema } = wholeSchema(undefined, { context: name }, undefined, catalogue).shape;
  const given = applySettings(
    z.strictObject({ context: schema as z.ZodType }),
    { context: isNamed ? {} : (options as JsonObject) },
    named,
    label,
  );
  const context = { trained: true, ...(given.context as JsonObject), name };
  return contextOf({ context }, catalogue);
}
