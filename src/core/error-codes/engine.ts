import type { ErrorTable } from './error-table.ts';

export const engine = {
  'base-model-changed': {
    meaning: "The pretrained model's files are not those that the run started from.",
    remedy: 'Restore them, or start a new run.',
  },
  'batch-invalid': {
    meaning: 'A row of a batch does not fit the model or its channels do not fit its length.',
    remedy: 'The message names the row.',
  },
  'chat-template-invalid': {
    meaning:
      'The chat template of a checkpoint cannot be read or evaluated, runs for too long, or writes too much.',
    remedy: 'Put another one into `chat_template.jinja` of the folder.',
  },
  'chat-template-missing': {
    meaning: 'The checkpoint has no chat template: a base model, most often.',
    remedy: 'Use the instruction-tuned model, or add a `chat_template.jinja`.',
  },
  'chat-template-refused': {
    meaning: 'The chat template raises an error about these messages; the message repeats it.',
    remedy: 'Change the messages of the environment, or the template.',
  },
  'context-too-short': {
    meaning: 'The first prompt of the environment is longer than the context of the model.',
    remedy: 'Set `chat.contextLength` where the model reads more, or shorten the prompts.',
  },
  'engine-closed': {
    meaning: 'The engine was used after it was closed.',
    remedy: 'Create another.',
  },
  'engine-failed': {
    meaning: 'The engine or its thread failed.',
    remedy: 'Resume from the last checkpoint.',
  },
  'engine-not-frozen': {
    meaning: 'A reference policy was requested, but none was kept.',
    remedy: 'Call `freeze()` first.',
  },
  'engine-unsupported': {
    meaning: 'The objective needs something that this engine or model lacks.',
    remedy: 'Use another objective, or a model with a value head.',
  },
  'export-exists': {
    meaning: 'The folder to export to exists and is not empty.',
    remedy: 'Name a new one.',
  },
  'export-unsupported': {
    meaning:
      "The run's model is small and made for its task, so that no other program reads it; or a GGUF file cannot hold its tokenizer or a value.",
    remedy: 'Export runs that started from `--model`; as a folder with `--merged`.',
  },
  'hub-checksum': {
    meaning: 'A file of a model arrived damaged twice.',
    remedy: 'Try again, or from another network.',
  },
  'hub-denied': {
    meaning: 'The hub refuses the model: gated, private, or there is none.',
    remedy: 'Accept its terms, and set `HF_TOKEN`.',
  },
  'hub-interrupted': {
    meaning: 'A download broke off several times without getting further.',
    remedy: 'Run the command again; it continues where it stopped.',
  },
  'hub-no-weights': {
    meaning: 'The repository has no weights in the safetensors format.',
    remedy: 'Choose one that has.',
  },
  'hub-unavailable': {
    meaning: 'The hub answered with an error, or with an unusable response.',
    remedy: 'Try again later, or check `HF_ENDPOINT`.',
  },
  'hub-unknown': {
    meaning: 'The hub has no such model, revision or file.',
    remedy: 'Check owner, name and revision.',
  },
  'hub-unreachable': {
    meaning: 'The model is not in the cache, and there is no network (or `HF_HUB_OFFLINE` is set).',
    remedy: 'Connect, set `HF_ENDPOINT`, or give a folder.',
  },
  'memory-insufficient': {
    meaning: 'The weights of the model do not fit into the memory that is free.',
    remedy: 'Take a smaller model, close other programs, or train on a server.',
  },
  'model-ambiguous': {
    meaning: 'The folder holds several GGUF files.',
    remedy: 'Name one of them.',
  },
  'model-file-invalid': {
    meaning: 'A JSON file of a checkpoint folder cannot be read.',
    remedy: 'Restore it, or download the model again.',
  },
  'model-invalid': {
    meaning: '`config.json` or the index of weight files of a model folder has a value that cannot be used.',
    remedy: 'The message names file and key, and what is allowed.',
  },
  'model-too-large': {
    meaning: 'All weights of a model cannot be trained: it is too large for the embedded optimizer.',
    remedy: 'Train an adapter, or use another engine.',
  },
  'model-unknown': {
    meaning: 'The model is neither a path nor a name of the hub, Ollama or LM Studio.',
    remedy: 'Give `./path`, `owner/name` or `ollama:NAME`.',
  },
  'model-unsupported': {
    meaning: 'The architecture, or a feature that its configuration switches on, would be computed wrongly.',
    remedy: 'Use a model of a family that the message lists.',
  },
  'non-finite-logits': {
    meaning: 'The model gave a log-probability that is not finite.',
    remedy: 'Lower the learning rate and resume from an earlier checkpoint.',
  },
  'non-finite-loss': {
    meaning: 'A loss is not finite. The weights were left alone.',
    remedy: 'Check the rows that the message names; lower the learning rate.',
  },
  'runtime-missing': {
    meaning:
      'The package with the native part of onnxruntime is missing: it was left out with `--omit=optional`, `node_modules` came from another kind of machine, or no package exists for this machine.',
    remedy: 'Run the `npm install` command of the message.',
  },
  'runtime-unloadable': {
    meaning: 'The system refuses to load the native part of onnxruntime.',
    remedy: "The message gives the system's reason and the requirements.",
  },
  'sample-invalid': {
    meaning: 'A sampling request is out of range.',
    remedy: 'The message says which part.',
  },
  'schema-unsupported': {
    meaning: 'No grammar can be made of a JSON Schema to which a completion is to be held.',
    remedy: 'Use plain types, `properties`, `items`, `enum`, `const`, `anyOf` and `$ref` to `$defs`.',
  },
  'stop-token-missing': {
    meaning: 'No file of the checkpoint says which token ends a turn.',
    remedy: 'Add `eos_token_id` to `generation_config.json`.',
  },
  'tokenizer-cannot-encode': {
    meaning: 'A part of a text has no token.',
    remedy: 'Use a model with a byte-level tokenizer.',
  },
  'tokenizer-invalid': {
    meaning: 'The words of a tokenizer lack a special word at its place.',
    remedy: 'Use the tokenizer that was saved with the checkpoint.',
  },
  'tokenizer-mismatch': {
    meaning: "The tokenizer has ids beyond the model's logits, or the stop tokens are beyond the tokenizer.",
    remedy: 'Use the files that came with the weights.',
  },
  'tokenizer-missing': {
    meaning: 'The checkpoint folder has no `tokenizer.json`, or the GGUF file no tokenizer.',
    remedy: 'Save it there with transformers, or take a file that has one.',
  },
  'tokenizer-unsupported': {
    meaning: '`tokenizer.json` is of a kind that cannot be used.',
    remedy: 'Save it again with transformers, as a fast tokenizer.',
  },
} satisfies ErrorTable;
