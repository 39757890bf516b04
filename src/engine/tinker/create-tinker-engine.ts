/** Opens an engine on a server: its session, its first model, and what has to be asked before. */

import { TurnwiseError } from '../../core/errors.ts';
import { findLossScale } from './loss-scale.ts';
import { TinkerService } from './service.ts';
import { TinkerEngine, type TinkerEngineOptions } from './tinker-engine.ts';
import { TrainingModel } from './training-model.ts';

/**
 * Opens a session, creates a model and publishes it as version 0.
 *
 * @throws TurnwiseError `tinker-model-unknown`, `tinker-scale-unknown`, and whatever goes wrong on the way (`tinker-*`)
 */
export async function createTinkerEngine(options: TinkerEngineOptions): Promise<TinkerEngine> {
  const service = await TinkerService.connect(options);
  try {
    const contextLength = await contextLengthOf(service, options);
    const scale = options.lossScale ?? (await findLossScale(service, options, options.protobuf ?? false));
    const model = await TrainingModel.create(service, options, options.protobuf);
    const published = await model.publish();
    return new TinkerEngine(service, model, published, { ...options, contextLength, lossScale: scale });
  } catch (error) {
    await service.close();
    throw error;
  }
}

async function contextLengthOf(service: TinkerService, options: TinkerEngineOptions): Promise<number> {
  const models = await service.models();
  const model = models.find(({ name }) => name === options.baseModel);
  if (model === undefined) {
    throw new TurnwiseError('tinker-model-unknown', {
      what: `The Tinker server has no base model "${options.baseModel}"`,
      allowed: models.map(({ name }) => name).join(', ') || 'none',
      next: 'Name one of these with --base-model',
      fields: { baseModel: options.baseModel },
    });
  }
  const length = Math.min(
    options.contextLength ?? Number.POSITIVE_INFINITY,
    model.contextLength ?? Number.POSITIVE_INFINITY,
  );
  if (Number.isFinite(length)) return length;
  throw new TurnwiseError('config-invalid', {
    what: `The Tinker server does not say how long a sequence of ${options.baseModel} may be`,
    next: 'Say it with contextLength (chat.contextLength of a run)',
    fields: { key: 'contextLength' },
  });
}
