import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Message } from '../../core/messages.ts';
import { Conversations } from './conversations.ts';

const user = (content: string): Message => ({ role: 'user', content });
const system = (content: string): Message => ({ role: 'system', content });
const said = (content: string): Message => ({ role: 'assistant', content });
const called = (id: string, name = 'look'): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ id, name, arguments: { a: 1, b: 2 } }],
});
const result = (toolCallId: string, content: string): Message => ({ role: 'tool', content, toolCallId });

const LOOK = { name: 'look', description: '', parameters: {} };

describe('what a request continues', () => {
  test('the latest answer that it begins with', () => {
    const known = new Conversations<string>();
    known.add([user('q')], [], said('a'), 'first');
    known.add([user('q'), said('a'), user('r')], [], said('b'), 'second');
    const found = known.find([user('q'), said('a'), user('r'), said('b'), user('s')], []);
    expect(found).toMatchObject({ parent: 'second', base: 'second', fresh: [user('s')], change: undefined });
    expect(known.find([user('q'), said('a'), user('other')], []).parent).toBe('first');
    expect(known.find([user('new')], [])).toMatchObject({ parent: undefined, change: undefined });
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
    expect(known.find([user('q'), reordered, result('1', 'x')], []).parent).toBe('call');
    expect(known.find([user('w'), said('a'), user('x')], []).parent).toBe('words');
  });

  test('of equal answers the one whose calls came back, else the one that was offered the same tools', () => {
    const known = new Conversations<string>();
    known.add([user('q')], [], called('1'), 'one');
    known.add([user('q')], [], called('2'), 'two');
    expect(known.find([user('q'), called('2'), result('2', 'x')], []).parent).toBe('two');
    expect(known.find([user('q'), called('1'), result('1', 'x')], []).parent).toBe('one');
    known.add([user('w')], [], said('a'), 'bare');
    known.add([user('w')], [LOOK], said('a'), 'with tools');
    const next = [user('w'), said('a'), user('x')];
    expect(known.find(next, [LOOK])).toMatchObject({ parent: 'with tools', change: undefined });
    expect(known.find(next, [])).toMatchObject({ parent: 'bare', change: undefined });
  });

  test('also words that the policy never said, after something that it did: they are context', () => {
    const known = new Conversations<string>();
    known.add([user('q')], [], said('a'), 'first');
    const messages = [user('q'), said('a'), said('never'), user('r')];
    expect(known.find(messages, [])).toMatchObject({
      parent: 'first',
      base: 'first',
      change: undefined,
      fresh: messages.slice(2),
    });
  });
});

describe('a client that changed what was said', () => {
  const known = new Conversations<string>();
  const turns = [system('be'), user('q'), said('a'), user('r'), said('b'), user('s')];
  known.add(turns.slice(0, 2), [LOOK], said('a'), 'first');
  known.add(turns.slice(0, 4), [LOOK], said('b'), 'second');
  known.add(turns, [LOOK], called('7'), 'third');
  const cleared = [...turns.slice(0, 3), user('cleared'), said('b'), user('s')];

  test.each<[string, Message[], string, string, Message[]]>([
    [
      'an answer',
      [...turns.slice(0, 2), said('x'), user('r')],
      'first',
      'foreign-words',
      [said('x'), user('r')],
    ],
    [
      'a later one',
      [...turns.slice(0, 4), said('x'), user('s')],
      'second',
      'foreign-words',
      [said('x'), user('s')],
    ],
    [
      'by leaving out what was between',
      [...turns.slice(0, 2), said('b'), user('r')],
      'second',
      'dropped',
      [user('r')],
    ],
    ['a question under an answer', cleared, 'second', 'rewritten', [user('cleared'), user('s')]],
    [
      'by leaving the first turn out',
      [system('be'), user('r'), said('b'), user('s')],
      'second',
      'dropped',
      [user('s')],
    ],
    [
      'by a summary in place of the first turns',
      [system('be'), user('so far: a'), user('s'), called('7'), result('7', 'x')],
      'third',
      'rewritten',
      [user('so far: a'), result('7', 'x')],
    ],
    [
      'its system message',
      [system('do'), ...turns.slice(1)],
      'second',
      'system-changed',
      [system('do'), user('s')],
    ],
    ['by leaving the system message out', turns.slice(1), 'second', 'system-changed', [user('s')]],
  ])('%s', (_case, messages, parent, change, fresh) => {
    expect(known.find(messages, [LOOK])).toMatchObject({ parent, change, fresh });
  });

  test('its tools', () => {
    expect(known.find(turns, [])).toMatchObject({
      parent: 'second',
      base: 'second',
      change: 'tools-changed',
      fresh: [user('s')],
    });
  });

  test('what stands before the change can be kept as it was sampled', () => {
    expect(known.find(cleared, [LOOK])).toMatchObject({ base: 'first', rest: cleared.slice(3) });
  });

  test.each([
    ['the first question was changed, so that it is a new conversation', [user('changed'), user('s')]],
    ['it begins with an example', [user('example'), said('its answer'), user('q')]],
    [
      'an example says by chance what the policy said elsewhere',
      [system('be'), user('z'), said('b'), user('q')],
    ],
  ])('or none: %s', (_case, messages) => {
    expect(known.find(messages, [LOOK])).toMatchObject({
      parent: undefined,
      change: undefined,
      fresh: messages,
    });
  });

  test('or none: examples stand before every question, and the policy has said one of their answers', () => {
    const examples = [user('x'), said('yes'), user('y'), said('no')];
    const classifier = new Conversations<number>();
    classifier.add([...examples, user('1')], [], said('no'), 1);
    classifier.add([...examples, user('2')], [], said('yes'), 2);
    expect(classifier.find([...examples, user('3')], []).parent).toBeUndefined();
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
        expect(found.parent).toBe(seen.get(JSON.stringify(messages)));
        expect(found.fresh).toEqual([user('next')]);
        expect(found.change).toBeUndefined();
      }
    }),
  );
});
