import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assistant, user } from '../core/messages.ts';
import { tellProblem } from './protocol.ts';
import { rawProtocol } from './raw-protocol.ts';
import { tagProtocol } from './tag-protocol.ts';

describe('tags', () => {
  it('finds the one action among reasoning', () => {
    expect(tagProtocol.parse('The goal is right.\n<action> right </action>\nDone.')).toEqual({
      ok: true,
      action: 'right',
    });
  });

  it('tells the thought from the action', () => {
    expect(tagProtocol.thought?.('The goal is right.\n<action>right</action>\nDone.')).toBe(
      'The goal is right.\n',
    );
    expect(tagProtocol.thought?.('<action>right</action>')).toBe('');
    expect(tagProtocol.thought?.('The goal is right.')).toBe('The goal is right.');
  });

  it.each([
    ['right', 'No action was found.'],
    ['<action>right', '<action> was not closed with </action>.'],
    ['right</action>', '</action> has no <action> before it.'],
    ['</action>right<action>', '</action> came before <action>.'],
    ['<action>left</action> or <action>right</action>', 'Seen 2 times <action> and 2 times </action>.'],
    ['<action><action>left</action>', 'Seen 2 times <action> and 1 times </action>.'],
    ['<action> </action>', 'The action was empty.'],
    ['', 'No action was found.'],
  ])('says what is wrong with %j', (text, what) => {
    expect(tagProtocol.parse(text)).toEqual({
      ok: false,
      problem: `${what} Write exactly one <action>…</action>.`,
    });
  });

  it('reads back what it formats, and never throws', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const action = text.trim();
        const parsed = tagProtocol.parse(`so ${tagProtocol.format(action)} it is`);
        if (action !== '' && !/<\/?action>/.test(action)) expect(parsed).toEqual({ ok: true, action });
        expect(tagProtocol.parse(text).ok).toBe(false);
      }),
    );
  });
});

describe('raw', () => {
  it('is the trimmed text', () => {
    expect(rawProtocol.parse('  left\n')).toEqual({ ok: true, action: 'left' });
    expect(rawProtocol.format('left')).toBe('left');
  });
});

describe('tellProblem', () => {
  it('puts the problem before what the agent sees next', () => {
    expect(tellProblem('No.', [user('at 3'), assistant('x')])).toEqual([user('No.\nat 3'), assistant('x')]);
    expect(tellProblem('No.', [user('')])).toEqual([user('No.')]);
    expect(tellProblem('No.', [])).toEqual([user('No.')]);
  });
});
