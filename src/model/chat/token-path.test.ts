/** Prompts hang on the paths before them, whatever a conversation keeps of what was said. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { user } from '../../core/messages.ts';
import { WordTokenizer } from '../tokenizer/word-tokenizer.ts';
import { type Completion, type Renderer, type Said, wordRenderer } from './renderer.ts';
import {
  hangOn,
  idsOfPrompt,
  linkOf,
  pathAfter,
  promptAfter,
  type TokenPath,
  withPath,
} from './token-path.ts';
import { wordChatRenderer } from './word-chat.ts';

const tokenizer = WordTokenizer.fromTexts(['a b c d']);
const renderers: [string, Renderer][] = [
  ['words', wordRenderer(tokenizer, 1)],
  ['marked words', wordRenderer(tokenizer, 3)],
  ['chats', wordChatRenderer(tokenizer, 3)],
];

test.each(renderers)('property: prompts of %s are those that are rendered from nothing', (_, renderer) => {
  // Of each turn: which of the earlier things are kept, what is new, and what is sampled.
  const turns = fc.array(
    fc.record({
      kept: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
      fresh: fc.array(fc.constantFrom('a', 'b', 'a b', ''), { minLength: 1, maxLength: 2 }),
      sampled: fc.array(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 8 },
  );
  let extended = 0;
  let cut = 0;
  fc.assert(
    fc.property(turns, (all) => {
      let paths: readonly TokenPath[] = [];
      let history: readonly Said[] = [];
      const ofCall = new Map<number, number[]>();
      for (const [id, { kept, fresh, sampled }] of all.entries()) {
        const said = [
          ...history.filter((_one, index) => kept[index % 12]),
          ...fresh.map((text) => user(text)),
        ];
        const prompt = promptAfter(paths, said, renderer);
        const ids = [...idsOfPrompt(prompt)];
        expect(ids).toEqual([...promptAfter([], said, renderer).context]);
        expect(prompt.length).toBe(ids.length);
        const { parent, kept: shared } = linkOf(prompt, 'window');
        if (parent !== undefined) {
          const before = ofCall.get(parent)!;
          const keeps = shared ?? before.length;
          expect(ids).toEqual([...before.slice(0, keeps), ...prompt.context]);
          if (shared === undefined) extended++;
          else cut++;
        }
        const completion: Completion = { id, ids: sampled, text: renderer.text(sampled) };
        const path = pathAfter(prompt, completion);
        expect([...path.tokens.toArray()]).toEqual([...ids, ...sampled]);
        ofCall.set(id, [...path.tokens.toArray()]);
        paths = withPath(paths, path);
        history = [...said, completion];
      }
      // What shares a buffer is not written over.
      for (const path of paths) expect([...path.tokens.toArray()]).toEqual(ofCall.get(path.call));
    }),
    { numRuns: 200 },
  );
  expect(extended).toBeGreaterThan(50);
  expect(cut).toBeGreaterThan(50);
});

test('a conversation that grows is rendered once: tokens handled are linear in turns', () => {
  const inner = wordRenderer(tokenizer, 3);
  let handled = 0;
  const counting: Renderer = {
    ...inner,
    ids: (piece) => {
      const ids = inner.ids(piece);
      handled += ids.length;
      return ids;
    },
  };
  const played = (turns: number): number => {
    handled = 0;
    let paths: readonly TokenPath[] = [];
    let said: readonly Said[] = [];
    for (let id = 0; id < turns; id++) {
      said = [...said, user('a b c')];
      const prompt = promptAfter(paths, said, counting);
      const completion = { id, ids: [4, 5, 3], text: 'a b' };
      paths = withPath(paths, pathAfter(prompt, completion));
      said = [...said, completion];
    }
    expect(paths).toHaveLength(1);
    expect(paths[0]!.tokens).toHaveLength(7 * turns);
    return handled;
  };
  expect(played(10)).toBe(40);
  expect(played(100)).toBe(400);
});

test('a conversation that goes on hangs on its last call, another on what it shares most with', () => {
  const renderer = wordRenderer(tokenizer, 1);
  const one: Completion = { id: 0, ids: [4], text: 'a' };
  const first = pathAfter(promptAfter([], [user('a b')], renderer), one);
  const two: Completion = { id: 1, ids: [5], text: 'b' };
  const second = pathAfter(promptAfter([first], [user('a b'), one, user('c')], renderer), two);
  const paths = withPath([first], second);
  expect(paths).toEqual([second]);
  const after = (said: readonly Said[]) => {
    const prompt = promptAfter(paths, said, renderer);
    return { ...linkOf(prompt, 'window'), context: [...prompt.context] };
  };
  expect(after([user('a b'), one, user('c'), two, user('d')])).toEqual({ parent: 1, context: [7] });
  // Without the second turn: the path of the first call, whole.
  expect(after([user('a b'), one, user('d')])).toEqual({ parent: 0, context: [7] });
  expect(after([user('a b'), user('d')])).toEqual({ parent: 1, kept: 2, newPath: 'window', context: [7] });
  expect(after([user('d')])).toEqual({ newPath: 'window', context: [7] });
});

test('without a renderer a prompt hangs on its parent by tokens, and where there are none by what was changed', () => {
  const path = Int32Array.of(1, 2, 3);
  expect(hangOn(path, Int32Array.of(1, 2, 3, 4), 'dropped')).toEqual({ context: Int32Array.of(4) });
  expect(hangOn(path, Int32Array.of(1, 2, 5), undefined)).toEqual({
    kept: 2,
    newPath: 'rewritten',
    context: Int32Array.of(5),
  });
  const none = new Int32Array();
  expect(hangOn(none, none, undefined)).toEqual({ context: none });
  expect(hangOn(none, none, 'dropped')).toEqual({ kept: 0, newPath: 'dropped', context: none });
});
