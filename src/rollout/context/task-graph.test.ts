/** The graph of a task, and a day of errands that is remembered in it. */

import { describe, expect, test } from 'vitest';
import { world as errands } from '../../../envs/errands/index.ts';
import { madeKey } from '../../core/testing/made-episodes.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import { scriptedPolicy } from '../../policy/scripted.ts';
import { demonstrate, learnVocabulary } from '../../synth/demonstrations.ts';
import { runEpisode } from '../episode.ts';
import { unwatched } from '../watch.ts';
import { changed, pathsOf, slotsIn } from './graph-changes.ts';
import { taskGraph } from './task-graph.ts';

describe('changes', () => {
  test('a city that becomes another one keeps the first as history; the hotel that needs it reads the second', () => {
    const first = changed([], 'new trip is summer ; new city is Paris under trip');
    const { graph } = changed(first.graph, 'new hotel is Ritz under trip needs city\nnew tickets is two');
    const after = changed(graph, 'update city is Rome ; check hotel');
    expect(after.about).toEqual(['city', 'hotel']);
    expect(after.graph.find(({ slot }) => slot === 'city')).toEqual({
      ...{ slot: 'city', value: 'Rome', parent: 'trip', needs: [], history: ['Paris'] },
    });
    const read = pathsOf(after.graph, ['hotel']).map(({ slot, value }) => `${slot} ${value}`);
    expect(read).toEqual(['trip summer', 'city Rome', 'hotel Ritz']);
    expect(pathsOf(after.graph, ['tickets', 'nothing']).map(({ slot }) => slot)).toEqual(['tickets']);
  });

  test('an update changes what a slot needs and what it is under, with its value or alone', () => {
    const { graph } = changed(
      [],
      'new trip is summer ; new city is Paris under trip ; new budget is small ; new hotel is Ritz under trip needs city',
    );
    const moved = changed(
      graph,
      'update hotel is Savoy under budget needs budget, city ; update city needs budget',
    );
    expect(moved.about).toEqual(['hotel', 'city']);
    expect(moved.graph.slice(1)).toEqual([
      { slot: 'city', value: 'Paris', parent: 'trip', needs: ['budget'], history: [] },
      { slot: 'budget', value: 'small', parent: null, needs: [], history: [] },
      { slot: 'hotel', value: 'Savoy', parent: 'budget', needs: ['budget', 'city'], history: ['Ritz'] },
    ]);
    // Of those that are said, none is needed any more; and an unknown one is the root.
    const freed = changed(moved.graph, 'update hotel under nothing needs none').graph[3];
    expect(freed).toEqual({ slot: 'hotel', value: 'Savoy', parent: null, needs: [], history: ['Ritz'] });
    // Values alone leave the rest.
    expect(changed(moved.graph, 'new hotel is Ritz').graph[3]).toEqual({
      ...{
        slot: 'hotel',
        value: 'Ritz',
        parent: 'budget',
        needs: ['budget', 'city'],
        history: ['Ritz', 'Savoy'],
      },
    });
  });

  test('a value may begin with a mark or have one that was used; one without a word is none', () => {
    const { graph } = changed(
      [],
      'new cat is under the bed ; new dog is Rex under cat under the roof ; new pot is',
    );
    expect(graph.map(({ slot, value, parent }) => [slot, value, parent])).toEqual([
      ['cat', 'under the bed', null],
      ['dog', 'Rex', null],
    ]);
    expect(
      changed(graph, 'update cat is ; update dog under cat').graph.map(({ value, parent }) => [
        value,
        parent,
      ]),
    ).toEqual([
      ['under the bed', null],
      ['Rex', 'cat'],
    ]);
  });

  test('what would close a circle is refused, over others too; the rest of the change is taken', () => {
    const { graph } = changed([], 'new a is 1 ; new b is 2 under a needs a ; new c is 3 under b needs b');
    const after = changed(graph, 'update a is 9 under c needs c, a, b ; update b under b');
    expect(after.graph.map(({ slot, value, parent, needs }) => [slot, value, parent, needs])).toEqual([
      ['a', '9', null, []],
      ['b', '2', 'a', ['a']],
      ['c', '3', 'b', ['b']],
    ]);
  });

  test('unknown parents are the root, unknown needs none; new and update stand in for each other', () => {
    const { graph, about } = changed(
      [],
      'update a is 1 under b needs c , a ; new a is 2 ; check b ; gibberish ; new',
    );
    expect(graph).toEqual([{ slot: 'a', value: '2', parent: null, needs: [], history: ['1'] }]);
    expect(about).toEqual(['a']);
    expect(changed(graph, 'new x is 1 ; new y is 2', 2).graph.map(({ slot }) => slot)).toEqual(['a', 'x']);
    expect(changed(graph, 'none')).toEqual({ graph, about: [] });
    expect(slotsIn('bring the box, not boxes', ['box', 'boxes', 'bo', 'red box'])).toEqual(['box', 'boxes']);
  });
});

const words = { instruction: 'write', act: 'act' };

test('errands: the expert writes the graph, and 24 turns are won in 64 tokens', {
  timeout: 60_000,
}, async () => {
  const game = errands.create(errands.options.parse({}));
  const demonstrations = await demonstrate(game, {
    ...{ demonstrations: 20, beginnerShare: 0, randomRate: 0, seed: 1, maxTurns: 24, turnTimeoutMs: 5000 },
    context: taskGraph.create(words),
    ...{ signal: new AbortController().signal, watch: unwatched },
  });
  const { tokenizer, maxActionWords } = learnVocabulary(demonstrations);
  const renderer = wordRenderer(WordTokenizer.fromTexts(tokenizer.words), maxActionWords);
  const { calls, stop, success } = await runEpisode(
    { key: madeKey(), task: game.tasks('test').at(0) },
    {
      ...{ world: game, renderer, contextLength: 64, maxTurns: 24, turnTimeoutMs: 5000, seed: 1 },
      policy: scriptedPolicy(game, { player: () => 'expert', randomRate: 0, renderer }),
      context: taskGraph.create(words),
      sampling: { temperature: 1, topP: 1, topK: 0 },
      ...{ signal: new AbortController().signal, watch: unwatched },
    },
  );
  expect([stop, success]).toEqual(['done', { agent: true }]);
  const written = calls.filter(({ purpose }) => purpose === 'graph').map(({ text }) => text);
  expect(written).toHaveLength(24);
  expect(written.filter((text) => text !== 'none')).toEqual([
    'new letter is cobbler letter inn',
    'new jar is tailor jar bridge',
    'update letter is cobbler letter bridge',
    'check letter',
    'check letter',
    'check jar',
    'check jar',
  ]);
  const fetching = calls.findLast(({ purpose }) => purpose === 'act')!;
  expect(fetching.parts!.flatMap((part) => ('content' in part ? [part.content] : []))).toEqual([
    'jar is tailor jar bridge',
    'act',
  ]);
});
