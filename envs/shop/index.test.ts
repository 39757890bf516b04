import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playEpisode } from '../../src/env/play.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { scores } from '../scores.test-helper.ts';
import { catalogueOf, type Product } from './catalogue.ts';
import { shop, world } from './index.ts';
import { planFrom, productOf, type Visit } from './pages.ts';
import { nearness, rewardOf, type Wish } from './reward.ts';
import { search } from './search.ts';

const defaults = world.options.parse({});
const environment = shop(defaults);
const size = { products: defaults.products, results: defaults.results };
const rng = Rng.of(0);

/** Fewest actions by breadth-first search over pages, with the steps of the environment alone. */
function fewest(start: Visit, most: number): number | undefined {
  let edge = [start];
  const seen = new Set([JSON.stringify(start)]);
  for (let length = 1; length <= most; length++) {
    const next: Visit[] = [];
    for (const visit of edge) {
      for (const action of environment.actions!(visit)) {
        const { state, success, done } = environment.step(visit, action, rng);
        if (success) return length;
        const key = JSON.stringify(state);
        if (!done && !seen.has(key)) next.push(state);
        seen.add(key);
      }
    }
    edge = next;
  }
  return undefined;
}

const play = (start: Visit, ...actions: readonly string[]) => {
  let step = environment.step(start, actions[0]!, rng);
  for (const action of actions.slice(1)) step = environment.step(step.state, action, rng);
  return step;
};
const entered = (wish: Wish): Visit => environment.start(wish, rng).state;
const wishAt = (index: number): Wish => environment.tasks('test').at(index);

describe('oracle', () => {
  it('the expert buys what is asked for, by its title in the worst case, whatever the product', async () => {
    const game = world.create(defaults);
    for (const [index, product] of catalogueOf(size.products).entries()) {
      const options = Object.fromEntries(
        Object.entries(product.options).map(([name, values]) => [name, values.at(-1)!]),
      );
      const wish: Wish = {
        ...{ product: product.id, kind: product.kind, attributes: product.attributes.slice(0, 1), options },
        limit: product.price,
      };
      const played = await playEpisode(game, wish as never, index, 'expert');
      expect(played).toMatchObject({ success: true, outcome: 1 });
      expect(played.turns.length).toBeLessThanOrEqual(6);
    }
  });

  it('the expert needs as few actions as a search finds, from wherever random ones lead', {
    timeout: 120_000,
  }, () => {
    const lengths = new Set<number>();
    for (let index = 0; index < 24; index++) {
      const wander = Rng.of('wander', index);
      let visit = entered(wishAt(index));
      for (let turn = wander.int(6); turn > 0; turn--) {
        const step = environment.step(visit, wander.pick(environment.actions!(visit)), rng);
        if (!step.done) visit = step.state;
      }
      const plan = planFrom(size, visit);
      lengths.add(plan.length);
      expect(play(visit, ...plan)).toMatchObject({ done: true, success: true, reward: 1 });
      // A longer search is too much for a test: there it suffices that nothing shorter is found.
      const found = fewest(visit, Math.min(plan.length, 4));
      if (plan.length <= 4) expect(found).toBe(plan.length);
      else expect(found).toBeUndefined();
    }
    expect(lengths.size).toBeGreaterThan(2);
  });

  it('scripted players do as the README says', { timeout: 60_000 }, async () => {
    expect(await scores(world.create(defaults), 200)).toMatchInlineSnapshot(`
      [
        "expert 1.000 1.000 4.75",
        "beginner 0.380 0.745 3.90",
        "random 0.000 0.047 11.21",
      ]
    `);
  });
});

const product = (nouns: string, parts: Partial<Product> = {}): Product => ({
  ...{
    id: 'p0',
    department: 'kitchen',
    shelf: 'drinkware',
    kind: 'mug',
    attributes: ['insulated'],
    price: 10,
  },
  ...{ nouns: nouns.split(' '), options: { colour: ['red', 'blue'] } },
  ...parts,
});

describe('reward', () => {
  const mug = product('marlow steel mug coffee picnic');
  const wish: Wish = {
    product: 'p0',
    kind: 'mug',
    attributes: ['insulated', 'steel'],
    options: { colour: 'red' },
    limit: 10,
  };

  it('is the share of attributes, options and price that are right', () => {
    expect(rewardOf(wish, mug, mug, { colour: 'red' })).toBe(1);
    expect(rewardOf(wish, mug, mug, { colour: 'blue' })).toBe(3 / 4);
    expect(rewardOf(wish, mug, mug, {})).toBe(3 / 4);
    expect(rewardOf({ ...wish, limit: 9 }, mug, mug, {})).toBe(2 / 4);
    const clay = product('marlow clay mug coffee picnic', { attributes: [], price: 11 });
    expect(rewardOf(wish, mug, clay, {})).toBe(0);
  });

  it('counts a half for something else, a tenth or nothing without nouns in common', () => {
    const elsewhere = { kind: 'lamp', department: 'home', shelf: 'lighting' } as const;
    expect(nearness(mug, product('tandy glass mug tea office'))).toBe(1);
    expect(nearness(mug, product('tandy steel flask tea office', { kind: 'flask' }))).toBe(1);
    expect(nearness(mug, product('marlow steel lamp desk porch', elsewhere))).toBe(1);
    expect(nearness(mug, product('marlow brass lamp desk porch', elsewhere))).toBe(0.5);
    expect(nearness(mug, product('tandy brass lamp desk porch', elsewhere))).toBe(0);
    // WebShop's last two rules hold in the same category, too.
    expect(nearness(mug, product('tandy clay flask tea office', { kind: 'flask' }))).toBe(0);
    const long = product('marlow steel mug a b c d e f g h');
    expect(nearness(long, product('marlow brass lamp desk porch', elsewhere))).toBe(0.1);
  });

  it('each product is worth 1 to the wish that is drawn from it', () => {
    for (let index = 0; index < 50; index++) {
      const drawn = wishAt(index);
      const meant = productOf(size, drawn.product);
      expect(rewardOf(drawn, meant, meant, drawn.options)).toBe(1);
    }
  });
});

describe('search', () => {
  it('agrees with BM25 as it is written down', () => {
    const texts = catalogueOf(60).map(({ department, shelf, nouns, attributes, options }) => [
      ...[department, shelf, ...nouns, ...attributes, ...Object.values(options).flat()],
    ]);
    const mean = texts.reduce((sum, text) => sum + text.length, 0) / 60;
    const query = ['steel', 'mug', 'red'];
    const score = (text: readonly string[]): number =>
      query.reduce((sum, word) => {
        const times = text.filter((one) => one === word).length;
        const having = texts.filter((one) => one.includes(word)).length;
        const rarity = Math.log(1 + (60 - having + 0.5) / (having + 0.5));
        return sum + (rarity * times * 2.2) / (times + 1.2 * (1 - 0.75 + (0.75 * text.length) / mean));
      }, 0);
    const ranked = texts
      .map((text, number) => ({ number, score: score(text) }))
      .filter((row) => row.score > 0);
    ranked.sort((one, other) => other.score - one.score || one.number - other.number);
    expect(search(60, 'Steel, mug! red').map(({ id }) => id)).toEqual(
      ranked.map(({ number }) => `p${number + 1}`),
    );
  });

  it('knows no other words, and lists at most 50 products', () => {
    expect(search(120, 'zeppelin')).toEqual([]);
    expect(search(120, 'mug zeppelin mug')).toEqual(search(120, 'mug'));
    expect(search(2000, 'kitchen')).toHaveLength(50);
  });

  it('a larger catalogue begins with the smaller one', () => {
    expect(catalogueOf(200).slice(0, 60)).toEqual(catalogueOf(60));
  });
});

describe('rules', () => {
  const start = entered(wishAt(0));
  const plan = planFrom(size, start);
  const onItem = play(start, plan[0]!, plan[1]!).state;

  it('reads actions in brackets and without', () => {
    expect(play(start, 'search[steel mug]').state).toEqual(play(start, 'search Steel  MUG').state);
    expect(play(onItem, 'click[back to search]').state).toEqual(start);
    for (const action of [
      'search',
      'search[]',
      'click',
      'buy now',
      'click[buy now]',
      'click first',
      'search\n',
    ])
      expect(environment.step(start, action, rng), action).toMatchObject({
        valid: false,
        state: start,
        reward: 0,
      });
    expect(environment.step(onItem, 'search mug', rng).valid).toBe(false);
    expect(environment.step(onItem, 'click next >', rng).valid).toBe(false);
  });

  it('keeps only words of a query that a product has', () => {
    expect(play(start, 'search me a mug, please: mug').state.query).toBe('mug');
    const none = play(start, 'search zeppelin');
    expect(none).toMatchObject({ valid: true, state: { page: 'results' } });
    expect(none.observation).toMatch(/page results none$/);
    expect(environment.actions!(none.state)).toEqual(['click back to search']);
  });

  it('pages of results go on and back', () => {
    const results = play(start, 'search kitchen').state;
    const second = play(results, 'click next >').state;
    expect(environment.actions!(second)).not.toEqual(environment.actions!(results));
    expect(play(second, 'click < prev').state).toEqual(results);
    const last = play(results, ...Array.from({ length: 13 }, () => 'click next >')).state;
    expect(environment.actions!(last)).not.toContain('click next >');
  });

  it('a choice replaces one of its kind, is lost with the product, and is kept on its other pages', () => {
    const { options } = productOf(size, onItem.item);
    const [first, second] = options.colour!;
    const chosen = play(onItem, `click ${first}`, `click ${second}`).state;
    expect(chosen.chosen).toEqual({ colour: second });
    expect(play(chosen, 'click features', 'click < prev').state).toEqual(chosen);
    expect(play(chosen, 'click < prev').state.chosen).toEqual({});
  });

  it('a purchase ends the episode, and pays what it is worth', () => {
    const { reward, success, done } = play(onItem, 'click buy now');
    expect([done, success]).toEqual([true, false]);
    expect(reward).toBeGreaterThan(0);
    expect(reward).toBeLessThan(1);
    expect(play(start, ...plan)).toMatchObject({
      done: true,
      success: true,
      reward: 1,
      observation: 'bought right',
    });
  });

  it('features are on their own page', () => {
    const { attributes } = productOf(size, onItem.item);
    expect(play(onItem, 'click features').observation).toContain(attributes.join(' '));
    expect(play(onItem, 'click description').observation).toContain(productOf(size, onItem.item).shelf);
  });
});

it('both wordings show the same pages', () => {
  const wish: Wish = {
    product: 'p1',
    kind: 'mug',
    attributes: ['insulated'],
    options: { colour: 'red' },
    limit: 30,
  };
  const results = play(entered(wish), 'search mug').state;
  expect(
    [entered(wish), results, play(results, 'click first').state].map((visit) => [
      environment.natural!.observe(visit),
      visit.page === 'search' ? environment.start(wish, rng).messages[0]!.content : '',
    ]),
  ).toMatchInlineSnapshot(`
    [
      [
        "I want: mug, insulated, colour red, for at most 30 dollars. [SEP] Search [SEP] You may: search[words].",
        "want insulated mug red page search",
      ],
      [
        "I want: mug, insulated, colour red, for at most 30 dollars. [SEP] Page 1, 7 results for "mug" [SEP] first [SEP] marlow clay mug for tea and coffee [SEP] $26 [SEP] second [SEP] juno steel mug for office and coffee [SEP] $51 [SEP] third [SEP] sable glass mug for picnic and office [SEP] $35 [SEP] You may: click[first], click[second], click[third], click[next >], click[back to search].",
        "",
      ],
      [
        "I want: mug, insulated, colour red, for at most 30 dollars. [SEP] marlow clay mug for tea and coffee [SEP] $26 [SEP] colour: blue, grey, red [SEP] Chosen: nothing [SEP] You may: click[blue], click[grey], click[red], click[features], click[description], click[buy now], click[< prev], click[back to search].",
        "",
      ],
    ]
  `);
  expect(play(entered(wish), 'search mug').observation).toMatchInlineSnapshot(
    `"want insulated mug red page results first clay mug cheap second steel mug dear third glass mug dear more"`,
  );
  expect(play(results, 'click first').observation).toMatchInlineSnapshot(
    `"want insulated mug red page item mug cheap blue grey red chosen"`,
  );
});

it('wishes are of one split', () => {
  const seen = new Map<string, string>();
  for (const split of ['train', 'validation', 'test'] as const)
    for (let index = 0; index < 100; index++) {
      const wish = JSON.stringify(environment.tasks(split).at(index));
      expect(seen.get(wish) ?? split).toBe(split);
      seen.set(wish, split);
    }
});

it('keeps the laws in a large and a small shop', { timeout: 60_000 }, () =>
  environmentLaws(world, {
    options: [
      { products: 600, results: 10 },
      { products: 18, results: 1 },
    ],
    episodes: 10,
  }),
);
