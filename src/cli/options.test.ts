import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineCommand } from './command.ts';
import { parseLine } from './options.ts';

const command = defineCommand({
  name: 'cook',
  summary: 'Cook something',
  arguments: [
    { name: 'dish', description: 'what to cook', required: true },
    { name: 'side', description: 'what goes with it', required: false },
  ],
  options: z.strictObject({
    minutes: z.int().min(1).default(10).describe('Time'),
    heatLevel: z.enum(['low', 'high']).default('low').describe('Heat'),
    set: z.array(z.string()).default([]).describe('Settings'),
    json: z.boolean().default(false).describe('JSON'),
  }),
  examples: ['turnwise cook soup'],
  run: async () => undefined,
});

function problem(...line: string[]): string {
  try {
    parseLine(command, line);
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  }
  return 'accepted';
}

describe('parseLine', () => {
  it('fills in defaults', () => {
    expect(parseLine(command, ['soup'])).toEqual({
      arguments: { dish: 'soup', side: undefined },
      options: { minutes: 10, heatLevel: 'low', set: [], json: false },
      words: ['soup'],
    });
  });

  it('reads flags in any order, in both spellings, and repeated ones', () => {
    const line = [
      '--set',
      'a=1,2',
      'soup',
      '--minutes=5',
      '--heat-level',
      'high',
      '--json',
      '--set',
      'b=2',
      'bread',
    ];
    expect(parseLine(command, line)).toEqual({
      arguments: { dish: 'soup', side: 'bread' },
      options: { minutes: 5, heatLevel: 'high', set: ['a=1,2', 'b=2'], json: true },
      words: ['soup', 'bread'],
    });
  });

  it('reads a negative number after an equals sign, and says its range', () => {
    expect(problem('soup', '--minutes=-3')).toMatchInlineSnapshot(
      `"option-value: The value of --minutes is not allowed. Seen: -3. Allowed: an integer at least 1."`,
    );
  });

  it('names the nearest flag', () => {
    expect(problem('soup', '--minute', '3')).toMatchInlineSnapshot(
      `"option-unknown: turnwise cook has no option --minute. Did you mean --minutes?"`,
    );
    expect(problem('soup', '-x')).toMatchInlineSnapshot(
      `"option-unknown: turnwise cook has no option -x. See: turnwise cook --help."`,
    );
  });

  it('says what a value may be', () => {
    expect(problem('soup', '--minutes', 'ten')).toMatchInlineSnapshot(
      `"option-value: The value of --minutes is not allowed. Seen: ten. Allowed: an integer at least 1."`,
    );
    expect(problem('soup', '--heat-level', 'hihg')).toMatchInlineSnapshot(
      `"option-value: The value of --heat-level is not allowed. Seen: hihg (did you mean high?). Allowed: low, high."`,
    );
    expect(problem('soup', '--minutes')).toMatchInlineSnapshot(
      `"option-value: The value of --minutes is not allowed. Seen: nothing. Allowed: an integer at least 1."`,
    );
    expect(problem('soup', '--minutes', '--json')).toContain('option-value');
    expect(problem('soup', '--json=yes')).toMatchInlineSnapshot(
      `"option-value: The value of --json is not allowed. Seen: yes. Allowed: no value: the flag alone turns it on."`,
    );
  });

  it('says which argument is missing or too much', () => {
    expect(problem()).toMatchInlineSnapshot(
      `"argument-missing: turnwise cook needs DISH: what to cook. For example: turnwise cook soup."`,
    );
    expect(problem('soup', 'bread', 'wine')).toMatchInlineSnapshot(
      `"argument-extra: turnwise cook takes only DISH SIDE. Seen: wine. See: turnwise cook --help."`,
    );
  });
});
