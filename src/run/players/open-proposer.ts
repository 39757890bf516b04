/** The proposer of prompts that the settings name: a model elsewhere, the learner itself, or a script of a user. */

import { TurnwiseError } from '../../core/errors.ts';
import { LEARNER } from '../../policy/engine-policy.ts';
import type { Proposer } from '../../prompts/proposer.ts';
import type { SpendMeter } from '../../server/gateway/spend.ts';
import type { Catalogue } from '../../train/config/catalogue.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import type { Learner } from '../../train/kit/learner.ts';
import { askElsewhere } from '../model/ask-model.ts';

export const LEARNER_PROPOSES = 'learner';
const ELSEWHERE = /^(openai|vllm):/;

/** @throws TurnwiseError `unknown-proposer`, `config-invalid` */
export function requireProposer(
  { prompts: { proposer }, model }: Pick<TrainConfig, 'prompts' | 'model'>,
  { proposers }: Pick<Catalogue, 'proposers'>,
): void {
  if (proposer === '' || ELSEWHERE.test(proposer)) return;
  if (proposer !== LEARNER_PROPOSES) {
    proposers.find(proposer);
    return;
  }
  if (model.pretrained !== '') return;
  throw new TurnwiseError('config-invalid', {
    what: 'A small model writes words of its task, and no prompts',
    seen: 'prompts.proposer learner without a pretrained model',
    allowed: 'openai:URL#MODEL, a file, or learner with --model',
    fields: { key: 'prompts.proposer' },
  });
}

/** Undefined where the settings name none. */
export function openProposer(
  { config, catalogue, engine, renderer }: Pick<Learner, 'config' | 'catalogue' | 'engine' | 'renderer'>,
  spend?: SpendMeter,
): Proposer | undefined {
  const { proposer } = config.prompts;
  if (proposer === '') return undefined;
  if (proposer === LEARNER_PROPOSES) return learnerProposes({ engine, renderer, config });
  if (!ELSEWHERE.test(proposer)) return catalogue.proposers.find(proposer).create();
  const ask = askElsewhere(spend, { name: 'proposer', temperature: 1 });
  return (messages, { signal }) => ask(proposer, messages, signal);
}

/** The parts of a learner with the proposer that its settings name. */
export function withProposer<Parts extends Pick<Learner, 'config' | 'catalogue' | 'engine' | 'renderer'>>(
  parts: Parts,
  { spend }: { readonly spend?: SpendMeter },
): Parts & Partial<Pick<Learner, 'proposer'>> {
  const proposer = openProposer(parts, spend);
  return proposer ? { ...parts, proposer } : parts;
}

/** Prompts that the learner writes itself, with the weights that act now. */
function learnerProposes({
  config: { seed },
  engine,
  renderer,
}: Pick<Learner, 'engine' | 'renderer'> & { readonly config: Pick<TrainConfig, 'seed'> }): Proposer {
  return async (messages, { step, call }) => {
    const append = Int32Array.from(
      renderer.pieces(messages).flatMap((piece) => Array.from(renderer.ids(piece))),
    );
    const conversation = `proposer/${step}/${call}`;
    const room = engine.capabilities.contextLength - append.length;
    if (room < 1)
      throw new TurnwiseError('context-too-short', {
        what: 'What the proposer of prompts is asked does not fit into the context of the model',
        seen: `${append.length} tokens, and a context of ${engine.capabilities.contextLength}`,
        next: 'Raise chat.contextLength, or have the proposer read less (prompts.transcript, prompts.failures)',
      });
    const sampling = { temperature: 1, topP: 1, topK: 0, maxTokens: Math.min(room, LONGEST_PROPOSAL) };
    const { stopIds } = renderer;
    try {
      const sampled = await engine.sample({
        ...{ conversation, keep: 0, append, sampling, stopIds, seed: `${seed}/${conversation}` },
      });
      return { text: renderer.read(renderer.text(sampled.ids), []).content, by: LEARNER };
    } finally {
      engine.release([conversation]);
    }
  };
}

/** Tokens of a proposal that the learner writes, at most. */
const LONGEST_PROPOSAL = 512;
