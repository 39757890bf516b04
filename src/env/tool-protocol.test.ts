import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { NO_ACTION } from './protocol.ts';
import { rawProtocol } from './raw-protocol.ts';
import { defineTool, describeTools } from './tool.ts';
import { callConstraint, callTool, toolAction, toolProtocol } from './tool-protocol.ts';

interface Desk {
  readonly notes: string[];
}

const tools = [
  defineTool({
    name: 'write_note',
    description: 'Keep a note.',
    parameters: z.strictObject({ text: z.string().min(1), copies: z.int().min(1).max(3).default(1) }),
    run: ({ text, copies }, desk: Desk) => {
      for (let copy = 0; copy < copies; copy++) desk.notes.push(text);
      return `${desk.notes.length} notes`;
    },
  }),
  defineTool({
    name: 'read_notes',
    description: 'Read all notes.',
    parameters: z.object({}),
    run: async (_, desk: Desk) => desk.notes.join('; '),
  }),
];
const protocol = toolProtocol(tools);
const call = (value: unknown): string => `<tool_call>${JSON.stringify(value)}</tool_call>`;

describe('parse', () => {
  it('reads one call among reasoning, in canonical form', () => {
    const action = toolAction('write_note', { text: 'milk' });
    expect(action).toBe('{"arguments":{"text":"milk"},"name":"write_note"}');
    const text =
      'I should note it.\n<tool_call>\n{"name": "write_note", "arguments": {"text": "milk"}}\n</tool_call>';
    expect(protocol.parse(text)).toEqual({ ok: true, action });
    expect(protocol.parse(call({ name: 'read_notes' }))).toEqual({
      ok: true,
      action: toolAction('read_notes', {}),
    });
  });

  it('reads back what it formats', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 3 }), (text, copies) => {
        const action = toolAction('write_note', { text, copies });
        if (!action.includes('tool_call>')) {
          expect(protocol.parse(protocol.format(action))).toEqual({ ok: true, action });
        }
      }),
    );
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string(), (text) => protocol.parse(`<tool_call>${text}</tool_call>`).ok === false),
    );
    fc.assert(
      fc.property(fc.json(), (text) => protocol.parse(`<tool_call>${text}</tool_call>`).ok === false),
    );
  });

  it('tells what is wrong, where, and what is allowed', () => {
    const problems = [
      'milk',
      call({ name: 'write_note', arguments: { text: 'a' } }).repeat(2),
      '<tool_call>{"name":"read_notes"}',
      '<tool_call>read_notes()</tool_call>',
      call({ arguments: {} }),
      call([1]),
      call({ name: 'write_notes', arguments: { text: 'a' } }),
      call({ name: 'write_note', arguments: 'milk' }),
      call({ name: 'write_note', args: {} }),
      call({ name: 'write_note', arguments: { text: 3, copies: 9 } }),
      call({ name: 'write_note', arguments: {} }),
      call({ name: 'read_notes', arguments: { all: true } }),
    ].map((text) => {
      const parsed = protocol.parse(text);
      return parsed.ok ? 'read' : parsed.problem;
    });
    expect(problems).toMatchInlineSnapshot(`
      [
        "No tool was called. Write exactly one <tool_call>{"name": …, "arguments": {…}}</tool_call>. Available tools: write_note, read_notes.",
        "Seen more than one tool call. Write exactly one <tool_call>{"name": …, "arguments": {…}}</tool_call>.",
        "<tool_call> was not closed with </tool_call>. Write exactly one <tool_call>{"name": …, "arguments": {…}}</tool_call>.",
        "The tool call is not valid JSON. Write exactly one <tool_call>{"name": …, "arguments": {…}}</tool_call>.",
        "The tool call has no name. Write exactly one <tool_call>{"name": …, "arguments": {…}}</tool_call>. Available tools: write_note, read_notes.",
        "The tool call has no name. Write exactly one <tool_call>{"name": …, "arguments": {…}}</tool_call>. Available tools: write_note, read_notes.",
        "There is no tool "write_notes". Did you mean "write_note"? Available tools: write_note, read_notes.",
        "Tool "write_note": "arguments" must be an object. Its arguments: text, copies.",
        "The tool call has an unknown key "args". Write exactly one <tool_call>{"name": …, "arguments": {…}}</tool_call>.",
        "Tool "write_note": argument "text": Invalid input: expected string, received number. argument "copies": Too big: expected number to be <=3. Its arguments: text, copies.",
        "Tool "write_note": argument "text": Invalid input: expected string, received undefined. Its arguments: text, copies.",
        "Tool "read_notes": Unrecognized key: "all". It takes no arguments.",
      ]
    `);
  });
});

describe('callTool', () => {
  it('runs the call with its defaults and its context', async () => {
    const desk: Desk = { notes: [] };
    expect(await callTool(tools, toolAction('write_note', { text: 'milk', copies: 2 }), desk)).toBe(
      '2 notes',
    );
    expect(await callTool(tools, toolAction('write_note', { text: 'tea' }), desk)).toBe('3 notes');
    expect(await callTool(tools, toolAction('read_notes', {}), desk)).toBe('milk; milk; tea');
  });

  it('gives undefined for what is no call', async () => {
    const desk: Desk = { notes: [] };
    expect(await callTool(tools, NO_ACTION, desk)).toBeUndefined();
    expect(await callTool(tools, toolAction('burn', {}), desk)).toBeUndefined();
    expect(await callTool(tools, toolAction('write_note', { text: '' }), desk)).toBeUndefined();
    expect(desk.notes).toEqual([]);
  });

  it('checks arguments wherever a tool is run', async () => {
    await expect(tools[1]?.run({ all: true }, { notes: [] })).rejects.toThrow(/Unrecognized key/);
  });
});

describe('describeTools', () => {
  it('gives function declarations with JSON Schema', () => {
    expect(describeTools(tools)[0]).toMatchInlineSnapshot(`
      {
        "function": {
          "description": "Keep a note.",
          "name": "write_note",
          "parameters": {
            "additionalProperties": false,
            "properties": {
              "copies": {
                "default": 1,
                "maximum": 3,
                "minimum": 1,
                "type": "integer",
              },
              "text": {
                "minLength": 1,
                "type": "string",
              },
            },
            "required": [
              "text",
            ],
            "type": "object",
          },
        },
        "type": "function",
      }
    `);
    expect(protocol.instructions).toContain('"name":"read_notes"');
  });
});

const writeAt = defineTool({
  name: 'write_at',
  description: 'Write.',
  parameters: z.object({ text: z.string(), at: z.number() }),
  run: () => '',
});

it('the forms of a tool protocol are how demonstrations write its actions', () => {
  const own = toolProtocol([writeAt]);
  const { forms, trigger } = callConstraint(own)!;
  expect(trigger).toBeUndefined();
  const [form] = forms;
  const given = { at: 3, text: 'so' };
  const text = `${form!.begin}${JSON.stringify(given)}${form!.end}`;
  expect(text).toBe(own.format(toolAction('write_at', given)));
  expect(own.parse(text)).toEqual({ ok: true, action: toolAction('write_at', given) });
  expect(form!.notation).toBe('compact');
  // A grammar writes keys in the order of the schema.
  expect(Object.keys(form!.schema.properties as object)).toEqual(['at', 'text']);
});

it('where words are an answer, a call stands among words', () => {
  expect(callConstraint(toolProtocol([writeAt], { answers: true }))).toMatchObject({
    trigger: '<tool_call>',
    once: true,
  });
});

it('protocols without tools mean none', () => {
  expect(callConstraint(rawProtocol)).toBeUndefined();
});
