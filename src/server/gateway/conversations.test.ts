import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Message } from '../../core/messages.ts';
import { Conversations } from './conversations.ts';

const user = (content: string): Message => ({ role: 'user', content });
const said = (content: string): Message => ({ role: 'assistant', content });
const called = (id: string, name = 'look'): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ id, name, arguments: { a: 1, b: 2 } }],
});
const result = (toolCallId: string, content: string): Message => ({ role: 'tool', content, toolCallId });

describe('what a request continues', () => {
  test('the latest answer that it begins with', () => {
    const known = new Conversations<string>();
    known.add([user('q')], [], said('a'), 'first');
    known.add([user('q'), said('a'), user('r')], [], said('b'), 'second');
    const found = known.find([user('q'), said('a'), user('r'), said('b'), user('s')], []);
    expect(found).toMatchObject({ previous: 'second', fresh: [user('s')], edited: false });
    expect(known.find([user('q'), said('a'), user('other')], []).previous).toBe('first');
    expect(known.find([user('new')], [])).toMatchObject({ previous: undefined, edited: false });
  });

  test('whatever order the keys of arguments are in, and whatever white space was trimmed', () => {
    const known = new Conversations<string>();
    known.add([user('q')], [], called('1'), 'call');
    known.add([user('w')], [], said('a \n'), 'words');
    const reordered: Message = {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: '1', name: 'look', arguments: { b: 2, a: 1 } }],
    };
    expect(known.find([user('q'), reordered, result('1', 'x')], []).previous).toBe('call');
    expect(known.find([user('w'), said('a'), user('x')], []).previous).toBe('words');
  });

  test('of equal answers the one whose calls came back', () => {
    const known = new Conversations<string>();
    known.add([user('q')], [], called('1'), 'one');
    known.add([user('q')], [], called('2'), 'two');
    expect(known.find([user('q'), called('2'), result('2', 'x')], []).previous).toBe('two');
    expect(known.find([user('q'), called('1'), result('1', 'x')], []).previous).toBe('one');
  });

  test('other tools are another prompt', () => {
    const known = new Conversations<string>();
    known.add([user('q')], [{ name: 'look', description: '', parameters: {} }], said('a'), 'first');
    expect(known.find([user('q'), said('a'), user('r')], []).previous).toBeUndefined();
  });
});

describe('edited history', () => {
  const known = new Conversations<string>();
  known.add([user('q')], [], said('a'), 'first');
  known.add([user('q'), said('a'), user('r')], [], said('b'), 'second');

  test.each([
    ['an answer was changed', [user('q'), said('changed'), user('r')], true],
    ['a later one was', [user('q'), said('a'), user('r'), said('changed'), user('s')], true],
    ['a question under an answer was', [user('q'), said('a'), user('changed'), said('b'), user('s')], true],
    ['the first question was, so that it is a new conversation', [user('changed'), user('s')], false],
    ['it begins with an example', [user('example'), said('its answer'), user('q')], false],
  ])('%s', (_case, messages, edited) => {
    expect(known.find(messages, [])).toMatchObject({ edited, ...(edited && { previous: undefined }) });
  });
});

test('property: continuing any answer finds exactly it, however the tree branches', () => {
  // Each entry continues an earlier one (or none) with a question, and is answered.
  const tree = fc.array(fc.tuple(fc.nat(), fc.constantFrom('q', 'r'), fc.constantFrom('a', 'b')), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(tree, (steps) => {
      const known = new Conversations<number>();
      const nodes: Message[][] = [[]];
      const seen = new Map<string, number>();
      for (const [parent, question, answer] of steps) {
        const request = [...nodes[parent % nodes.length]!, user(question)];
        const all = [...request, said(answer)];
        known.add(request, [], said(answer), nodes.length);
        if (!seen.has(JSON.stringify(all))) seen.set(JSON.stringify(all), nodes.length);
        nodes.push(all);
      }
      for (const messages of nodes.slice(1)) {
        const found = known.find([...messages, user('next')], []);
        expect(found.previous).toBe(seen.get(JSON.stringify(messages)));
        expect(found.fresh).toEqual([user('next')]);
        expect(found.edited).toBe(false);
      }
    }),
  );
});
