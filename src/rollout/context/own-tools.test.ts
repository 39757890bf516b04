/** Contexts with tools of their own: which tools are offered, what is passed on by name, and what scripted players do with them. */

import { describe, expect, test } from 'vitest';
import { toolMemory } from './tool-memory.ts';
import { found, ownTools } from './tool-search.ts';
import { playToolbox, renderer } from './toolbox.test-helper.ts';
import { variables } from './variables.ts';

const questions = { prune: 'prune', search: 'search' };

describe('tool-memory', () => {
  const texts = (calls: readonly { readonly purpose: string; readonly text: string }[]) =>
    calls.map(({ purpose, text }) => (purpose === 'act' ? text : `${purpose}: ${text}`).slice(0, 60));

  test('autonomous: the expert searches for each tool before it calls it, and removes some where they are too many', async () => {
    const { episode, requests } = await playToolbox(toolMemory, { results: 1, most: 1 });
    expect(episode).toMatchObject({ stop: 'done', success: { agent: true } });
    expect(texts(episode.calls)).toEqual([
      '<call> search_tools query: fig_price',
      '<call> fig_price',
      '<call> remove_tools names: fig_price',
      '<call> search_tools query: plum_weight',
      '<call> plum_weight of: plum',
      'weight of plum weight of plum weight of plum weight of plum ',
    ]);
    const offered = episode.calls.map(({ tools }) => episode.tools[tools!]!.map(({ name }) => name));
    expect(offered).toEqual([
      ['search_tools', 'remove_tools'],
      ['fig_price', 'search_tools', 'remove_tools'],
      ['fig_price', 'search_tools', 'remove_tools'],
      ['search_tools', 'remove_tools'],
      ['plum_weight', 'search_tools', 'remove_tools'],
      ['plum_weight', 'search_tools', 'remove_tools'],
    ]);
    // Small models read the names, each list once, where it was new.
    expect(requests[2]!.messages.map(({ content }) => content)).toEqual([
      'price of fig then weight of plum',
      'tools search_tools remove_tools',
      '<call> search_tools query: fig_price',
      'Loaded fig_price',
      'tools fig_price search_tools remove_tools',
      '<call> fig_price',
      '2 coins',
    ]);
    // In between a prompt goes on from the one before it.
    expect(episode.calls.slice(1).every(({ kept }) => kept === undefined)).toBe(true);
  });

  test('workflow: before a message of a user it is asked which tools go and which come, and has no tools of its own', async () => {
    const { episode } = await playToolbox(toolMemory, { mode: 'workflow', ...questions });
    // The one message of a user comes first, when the plan is the first call alone.
    expect(texts(episode.calls).slice(0, 2)).toEqual(['search: fig_price', '<call> fig_price']);
    expect(episode.tools[episode.calls[1]!.tools!]!.map(({ name }) => name)).toEqual([
      'fig_price',
      'fig_weight',
      'plum_price',
    ]);
    expect(episode.calls[2]).toMatchObject({ reply: { problem: 'there is no tool "plum_weight"' } });
    expect(episode.calls[3]!.messages).toEqual([
      { role: 'tool', content: 'plum_weight is not loaded. Loaded: fig_price fig_weight plum_price' },
    ]);
    // What is not loaded was never called.
    expect(episode.transitions.map(({ action }) => action)).toEqual(['{"arguments":{},"name":"fig_price"}']);
  });

  test('hybrid: it is asked which tools go, and searches by itself', async () => {
    const options = { mode: 'hybrid', loaded: 'nut_price oat_weight', results: 1, ...questions };
    const { episode } = await playToolbox(toolMemory, options);
    expect(episode.success).toEqual({ agent: true });
    expect(texts(episode.calls).slice(0, 3)).toEqual([
      'prune: nut_price oat_weight',
      '<call> search_tools query: fig_price',
      '<call> fig_price',
    ]);
    expect(episode.tools[episode.calls[1]!.tools!]!.map(({ name }) => name)).toEqual(['search_tools']);
  });

  test('of five that may be loaded 3 and 3 more are refused, and nothing changes; unknown names are told', async () => {
    const said = [
      '<call> search_tools query: price',
      '<call> search_tools query: weight',
      '<call> remove_tools names: fig_price oat_price',
      '<call> search_tools query: coins',
      '<call> remove_tools names:',
    ];
    const { requests } = await playToolbox(toolMemory, { most: 5 }, (_, at) => said[at] ?? 'none');
    const told = requests.slice(1, 6).map(({ messages }) => messages.findLast(({ role }) => role === 'tool'));
    expect(told.map((message) => message!.content)).toEqual([
      'Loaded fig_price plum_price pear_price',
      '3 more would be over the 5 tools that may be loaded: remove some first.',
      'Removed fig_price. Not loaded: oat_price',
      'Found no other tool.',
      'Removed nothing.',
    ]);
  });

  test('every call of an act is answered, in order; what is not its own is to be called again', async () => {
    const said = [
      '<call> search_tools query: fig_price <call> search_tools query: plum_weight',
      '<call> fig_price <call> remove_tools names: fig_price <call> search_tools query: nut_price',
      '<call> remove_tools names: plum_weight <call> oat_price',
      '<call> search_tools query: oat_price <call> nothing',
    ];
    const { episode, requests } = await playToolbox(
      toolMemory,
      { results: 1, most: 2 },
      (_, at) => said[at] ?? 'none',
    );
    const told = episode.calls
      .slice(1, 5)
      .map(({ messages }) => messages.map(({ role, content }) => `${role}: ${content}`));
    expect(told).toEqual([
      ['tool: Loaded fig_price', 'tool: Loaded plum_weight'],
      [
        'tool: fig_price was not carried out. Call it again, in a turn of its own.',
        'tool: Removed fig_price',
        'tool: Loaded nut_price',
      ],
      [
        'tool: oat_price is not loaded. Loaded: plum_weight nut_price. remove_tools was not carried out. Call it again, in a turn of its own.',
      ],
      ['tool: Nothing was carried out: there is no tool "nothing"'],
    ]);
    expect(requests).toHaveLength(5);
    // None of it was a step of the environment.
    expect(episode.transitions.map(({ action }) => action)).toEqual([JSON.stringify({ answer: 'none' })]);
  });

  test('calls that the context answers are left untrained as the control', async () => {
    const say = (_: unknown, at: number) =>
      ['<call> search_tools query: fig_price', '<call> fig_price'][at] ?? 'none';
    for (const [trained, first] of [
      [true, true],
      [false, 'left-out'],
    ] as const) {
      const { episode } = await playToolbox(toolMemory, {}, say, { trained });
      expect(episode.calls.map(({ trainable }) => trainable)).toEqual([first, true, true]);
    }
  });

  test('a search knows names best, then words of names, then those of descriptions', () => {
    const tools = [
      { name: 'get_rain', description: 'Weather of a town.' },
      { name: 'weather', description: '' },
      { name: 'book', description: 'Book a room in a town.' },
    ].map((tool) => ({ ...tool, parameters: {} }));
    expect(found(tools, 'weather', [], 5)).toEqual(['weather', 'get_rain']);
    expect(found(tools, 'town', ['get_rain'], 5)).toEqual(['book']);
    expect(found(tools, 'get_rain weather', [], 1)).toEqual(['get_rain']);
    expect(found(tools, '', [], 5)).toEqual([]);
    expect(ownTools('workflow')).toEqual([]);
    expect(() => toolMemory.create({ most: 2, results: 3 })).toThrow('at most `most`');
  });
});

describe('variables', () => {
  const weight = 'weight of plum '.repeat(12).trim();

  test('the expert passes a long result on by its name; the environment gets the whole', async () => {
    const { episode, requests } = await playToolbox(variables, { limit: 40 });
    expect(episode.success).toEqual({ agent: true });
    expect(episode.calls.map(({ text }) => text)).toEqual([
      '<call> fig_price',
      '<call> plum_weight of: plum',
      '$r2',
    ]);
    expect(episode.transitions.at(-1)!.action).toBe(JSON.stringify({ answer: weight }));
    // The tokens of the record are those that were written.
    expect(renderer.text(episode.calls[2]!.ids)).toBe('$r2');
    const read = requests[2]!.messages.map(({ content }) => content);
    expect(read.at(-1)).toBe(`r2 is a text of 1 lines , ${weight.length} characters , begins weight of …`);
    expect(read.join(' ')).not.toContain(weight);
    expect(episode.calls[2]!.messages[0]!.content).toBe(weight);
  });

  test('what is read of a variable is cut, found by lines, and answered without a step', async () => {
    const said = [
      '<call> plum_weight of: plum',
      '<call> show name: r1',
      '<call> show name: r1 from: 150',
      '<call> find name: r1 text: pear',
      '<call> find name: r1 text: plum',
      '<call> show name: r9',
      '<call> fig_price of: $r1.none',
      '<call> fig_price of: $r1',
    ];
    const { episode, requests } = await playToolbox(variables, { limit: 40 }, (_, at) => said[at] ?? 'none');
    const told = requests
      .slice(2, 7)
      .map(({ messages }) => messages.findLast(({ role }) => role === 'tool')!.content);
    expect(told[0]).toMatch(/^weight of plum .* … more from \d+$/);
    expect(told[0]!.length).toBeLessThanOrEqual(40);
    expect(told.slice(1)).toEqual([
      weight.slice(150),
      'Found nothing',
      '1 lines are too long to read: find less',
      'There is no variable r9',
    ]);
    expect(episode.transitions.map(({ action }) => JSON.parse(action).arguments?.of)).toEqual([
      'plum',
      // No such part: it stands as it was written.
      '$r1.none',
      weight,
      undefined,
    ]);
  });

  test('what was read is no variable: the numbers go on as if it had not been', async () => {
    const said = [
      '<call> plum_weight of: plum',
      '<call> show name: r1',
      '<call> plum_weight of: plum',
      '<call> fig_price of: $r2',
    ];
    const { episode, requests } = await playToolbox(variables, { limit: 40 }, (_, at) => said[at] ?? 'none');
    expect(requests[3]!.messages.at(-1)!.content).toMatch(/^r2 is a text of 1 lines/);
    expect(JSON.parse(episode.transitions[2]!.action).arguments).toEqual({ of: weight });
  });

  test('what is read beside other calls is read; the others are told to wait, in words that are no variable', async () => {
    const said = [
      '<call> plum_weight of: plum',
      '<call> show name: r1 from: 150 <call> fig_price <call> find name: r1 text: pear',
      '<call> fig_price of: fig <call> show name: r9',
      '<call> show r1',
    ];
    const { episode, requests } = await playToolbox(variables, { limit: 40 }, (_, at) => said[at] ?? 'none');
    const told = requests
      .slice(2, 5)
      .map(({ messages }) =>
        messages
          .slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
          .map(({ content }) => content),
      );
    const again = 'fig_price was not carried out. Call it again, in a turn of its own.';
    expect(told).toEqual([
      [weight.slice(150), again, 'Found nothing'],
      [again, 'There is no variable r9'],
      ['Nothing was carried out: show: "r1" belongs to no argument'],
    ]);
    expect(episode.transitions.map(({ action }) => JSON.parse(action).name)).toEqual([
      'plum_weight',
      undefined,
    ]);
  });

  test('parts of JSON are passed on, and the latest results stay', async () => {
    const { deliver, window } = variables;
    const options = { limit: 40, keep: 2, placeholder: 'omitted' };
    const results = ['{"items":[{"name":"fig","n":3}]}', 'short', 'short too', 'and', 'so on'];
    const calls = results.map((_, id) => ({
      ...{ id, messages: id === 0 ? [] : [{ role: 'tool', content: results[id - 1]! }] },
      ...{ purpose: 'act', text: '' },
    }));
    const view = {
      ...{ calls, fresh: [{ role: 'tool', content: results.at(-1)! }], tools: [{ name: 'x' }], options },
      state: { folded: 0 },
    } as never;
    expect(deliver!('take $r1.items.0.name and $r1.items.0.n, $r1.items.0', view)).toBe(
      'take fig and 3, {"name":"fig","n":3}',
    );
    const { conversation } = (await window(view, undefined as never)) as unknown as {
      conversation: { parts: object[] };
    };
    const shown = conversation.parts.flatMap((part) => ('content' in part ? [part.content as string] : []));
    expect(shown).toEqual(['omitted', 'omitted', 'so on']);
  });
});
