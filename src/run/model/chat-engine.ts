/** A pretrained model that answers conversations: as it is on the disk, or as a run trained it. */

import { TurnwiseError } from '../../core/errors.ts';
import { createEmbeddedEngine } from '../../engine/embedded/embedded-engine.ts';
import type { Engine } from '../../engine/engine.ts';
import type { ConversationRenderer } from '../../model/chat/conversation.ts';
import { pretrainedConversation } from '../../model/chat/pretrained-conversation.ts';
import { openCheckpoint } from '../../model/checkpoint/checkpoint.ts';
import { loadPretrainedLanguage } from '../../model/tokenizer/pretrained-language.ts';
import { continuous } from '../../policy/batching.ts';
import { enginePolicy } from '../../policy/engine-policy.ts';
import type { PromptPolicy } from '../../policy/policy.ts';
import { runNames } from '../../store/runs.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import { openModel } from '../open-model.ts';
import { findPretrained, type ModelSearch } from './run-model.ts';
import { tokenizerHash } from './tokenizer-hash.ts';

export interface ChatEngine {
  readonly policy: PromptPolicy;
  readonly renderer: ConversationRenderer;
  /** Longest prompt + completion in tokens. */
  readonly contextLength: number;
  /** Whether its answers can be held to schemas. */
  readonly constrains: boolean;
  /** Hash of its tokenizer. */
  readonly tokenizer: string;
  close(): Promise<void>;
}

export interface ChatEngineRequest extends ModelSearch {
  /** The name of a run, or what `--model` names elsewhere: a folder, a GGUF file, a model of the hub or of Ollama. */
  readonly model: string;
  /** Folder that holds the runs. */
  readonly runs: string;
  /** Of a run; default: the last. */
  readonly step?: number;
  /** Of a model that no run trained; default: that of the model, at most 4096 tokens. */
  readonly contextLength?: number;
  readonly threads: number;
}

/** @throws TurnwiseError as `findModel` and `openCheckpoint`, and `export-unsupported` for the small model of a run */
export function openChatEngine(request: ChatEngineRequest): Promise<ChatEngine> {
  return runNames(request.runs).includes(request.model) ? ofRun(request) : asItIs(request);
}

async function asItIs({ model: reference, contextLength, threads, ...search }: ChatEngineRequest) {
  const path = await findPretrained(reference, search);
  const model = await openCheckpoint(path, contextLength === undefined ? {} : { contextLength });
  const language = await loadPretrainedLanguage(path, model.shape.vocabulary);
  // Its adapter stays at zero, so that it is the model as it is, and no weight is held twice to be trained.
  const engine = await createEmbeddedEngine({ model, lora: { rank: 1 }, seed: 0, threads, tokenBudget: 512 });
  return talking(engine, language, model.shape.contextLength, path);
}

async function ofRun({ model: name, runs: root, step, signal }: ChatEngineRequest): Promise<ChatEngine> {
  const { engine, card, file } = await openModel({ root, name, signal, ...(step !== undefined && { step }) });
  try {
    if ('words' in card) throw knowsItsWordsOnly(name);
    const language = await loadPretrainedLanguage(card.base.folder, card.shape.vocabulary);
    return talking(
      engine,
      language,
      engine.capabilities.contextLength,
      card.base.folder,
      file.config.chat.thinking,
    );
  } catch (error) {
    await engine.close();
    throw error;
  }
}

function talking(
  engine: Pick<Engine, 'version' | 'sample' | 'release' | 'capabilities' | 'close'>,
  language: Parameters<typeof pretrainedConversation>[0],
  contextLength: number,
  model: string,
  thinking: TrainConfig['chat']['thinking'] = 'template',
): ChatEngine {
  const renderer = pretrainedConversation(language, {
    maxTurnTokens: contextLength,
    ...(thinking === 'template' ? {} : { variables: { enable_thinking: thinking === 'on' } }),
  });
  return {
    // Nobody is waited for: each call is sampled when it comes.
    policy: enginePolicy(engine, renderer, continuous),
    renderer,
    contextLength,
    constrains: engine.capabilities.schemas,
    tokenizer: tokenizerHash({ model }),
    close: () => engine.close(),
  };
}

function knowsItsWordsOnly(run: string): TurnwiseError {
  return new TurnwiseError('policy-missing', {
    what: `The model of run "${run}" was made for its task, and reads no other words`,
    allowed: 'a run that started from --model, a checkpoint folder or a GGUF file',
    next: `Serve the run of an agent with: turnwise gateway ${run}`,
    fields: { run },
  });
}
