/** Two ways of talking about the same task: a few whole words for a tiny model, and tool calls for one that can read. */

import { z } from 'zod';
import { assistant, type Message, system, user } from '../../src/core/messages.ts';
import type { ActionProtocol } from '../../src/env/protocol.ts';
import { rawProtocol } from '../../src/env/raw-protocol.ts';
import { defineTool } from '../../src/env/tool.ts';
import { callTool, toolAction, toolProtocol } from '../../src/env/tool-protocol.ts';
import { OPERATION_NAMES } from './operations.ts';
import type { JsTools, Wording } from './session.ts';
import type { JsTask } from './tasks.ts';

type Question = Pick<JsTask, 'outer' | 'inner' | 'source'>;

export interface Language {
  readonly protocol: ActionProtocol;
  readonly wording: Wording;
  /** The action of a scripted player. */
  action(name: 'run' | 'submit', code: string): string;
}

/** `run CODE` and `submit EXPRESSION`; answers are two words, because no small vocabulary holds every value. */
export const words: Language = {
  protocol: rawProtocol,
  action: (name, code) => `${name} ${code}`,
  wording: {
    opening: (task) => [user(question(task))],
    act: (action, tools) => {
      const [, name, code] = /^(run|submit)\s+(\S.*)$/s.exec(action) ?? [];
      return code === undefined ? undefined : name === 'run' ? tools.run(code) : tools.submit(code);
    },
    evaluated: ({ output, error }) =>
      error === undefined ? `ok ${kindOf(output)}` : `error ${problemOf(error)}`,
    ended: (verdict) => `${verdict} answer`,
    invalid: 'error command',
    tell: user,
  },
};

const tools = [
  defineTool({
    name: 'run',
    description:
      'Run JavaScript. Variables persist. Returns what the code prints and the value of its last expression.',
    parameters: z.object({ code: z.string().describe('JavaScript source') }),
    run: ({ code }, session: JsTools) => session.run(code),
  }),
  defineTool({
    name: 'submit',
    description: 'Submit the answer, once.',
    parameters: z.object({
      expression: z.string().describe('A JavaScript expression whose value is the answer'),
    }),
    run: ({ expression }, session: JsTools) => session.submit(expression),
  }),
];
const protocol = toolProtocol(tools);

const GUIDE = [
  'Answer a question by calling a JavaScript interpreter. It holds xs and ys, which are lists of numbers or the JSON text of',
  `one, and the text word. Its functions are ${OPERATION_NAMES.join(', ')}, and parse, which reads JSON text. Write one`,
  'call a turn and nothing else: run takes code, whose variables persist, and tells what it prints and the value of its last',
  'expression; submit takes an expression whose value is the answer.',
].join(' ');

/** Questions of training, answered: models copy the form of a call from calls. */
const EXAMPLE: readonly Message[] = [
  user(sentence({ outer: 'square', inner: 'size', source: 'xs' })),
  called('run', { code: 'r = size(xs)' }),
  toolAnswer('5'),
  called('run', { code: 'r = square(r)' }),
  toolAnswer('25'),
  called('submit', { expression: 'r' }),
  toolAnswer('Your answer is right.'),
  user(sentence({ outer: 'mirrored', inner: 'upper', source: 'word' })),
  called('run', { code: 'r = upper(word)' }),
  toolAnswer('"LEMON"'),
  called('run', { code: 'r = mirrored(r)' }),
  toolAnswer('"NOMEL"'),
  called('submit', { expression: 'r' }),
  toolAnswer('Your answer is right.'),
];

function called(name: string, input: Readonly<Record<string, string>>): Message {
  return assistant(protocol.format(JSON.stringify({ name, arguments: input })));
}

function toolAnswer(content: string): Message {
  return { role: 'tool', content };
}

/** Calls of the tools `run` and `submit` with checked arguments; answers are what the interpreter printed. */
export const toolCalls: Language = {
  protocol,
  action: (name, code) => toolAction(name, name === 'run' ? { code } : { expression: code }),
  wording: {
    // The declarations of the tools in full would be twice as long, and taught a small model less than the calls do.
    opening: (task) => [system(GUIDE), ...EXAMPLE, user(sentence(task))],
    act: (action, session) => callOrNothing(action, session),
    evaluated: ({ output, error }) => [output, error].filter((part) => part).join('\n') || '(no output)',
    ended: (verdict) => `Your answer is ${verdict}.`,
    invalid: 'Call one of the tools.',
    tell: toolAnswer,
  },
};

function sentence({ outer, inner, source }: Question): string {
  return `What is the ${outer} of the ${inner} of ${source}?`;
}

function question({ outer, inner, source }: Question): string {
  return `find ${outer} of ${inner} of ${source}`;
}

function callOrNothing(action: string, session: JsTools): Promise<string> | undefined {
  return protocol.parse(protocol.format(action)).ok
    ? callTool(tools, action, session).then((said) => said ?? '')
    : undefined;
}

function kindOf(output: string): string {
  if (output === '') return 'nothing';
  if (output.startsWith('[')) return 'list';
  return output.startsWith('"') ? 'text' : 'number';
}

function problemOf(error: string): string {
  if (error.includes('unparsed')) return 'unparsed';
  const [, name = 'other'] = /^(\w+?)(Error|Limit):/.exec(error) ?? [];
  return name.toLowerCase();
}
