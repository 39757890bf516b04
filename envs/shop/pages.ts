/** The pages of the shop, what can be clicked there, what a click leads to, and the fewest actions to the right purchase. */

import type { Rng } from '../../src/core/rng.ts';
import { catalogueOf, kindsOf, type OptionName, type Product } from './catalogue.ts';
import { type Choices, rewardOf, type Wish } from './reward.ts';
import { knownWords, search } from './search.ts';

/** The size of the shop. */
export interface Shop {
  readonly products: number;
  /** Results on a page. */
  readonly results: number;
}

/** Where the agent is. A type alias, since interfaces are not JSON to the compiler. */
export type Visit = {
  readonly wish: Wish;
  readonly page: 'search' | 'results' | 'item' | 'features' | 'description' | 'bought';
  readonly query: string;
  /** From 0. */
  readonly number: number;
  /** The product that is looked at, or was bought. */
  readonly item: string;
  readonly chosen: Choices;
};

/** Results are clicked by their place on the page. */
export const PLACES = 'first second third fourth fifth sixth seventh eighth ninth tenth'.split(' ');
export const BACK = 'back to search';
export const NEXT = 'next >';
export const PREVIOUS = '< prev';
export const BUY = 'buy now';
/** Words of a query that are kept. */
const MOST_WORDS = 12;

export const entering = (wish: Wish): Visit => ({
  ...{ wish, page: 'search', query: '', number: 0, item: '', chosen: {} },
});

export function drawWish({ products }: Shop, rng: Rng): Wish {
  const product = rng.pick(catalogueOf(products));
  const attributes = rng.shuffle(product.attributes).slice(0, 1 + rng.int(2));
  const options = Object.fromEntries(
    Object.entries(product.options).map(([name, values]) => [name, rng.pick(values)]),
  );
  const limit = product.price + rng.int(8);
  return { product: product.id, kind: product.kind, attributes, options, limit };
}

export const productOf = ({ products }: Shop, id: string): Product =>
  catalogueOf(products)[Number(id.slice(1)) - 1]!;

/** What is listed on the page of results. */
export function listed(shop: Shop, { query, number }: Visit): readonly Product[] {
  return search(shop.products, query).slice(number * shop.results, (number + 1) * shop.results);
}

/** Choices in one order, whichever was made first. */
const inOrder = ({ colour, size }: Choices): Choices => ({
  ...(colour && { colour }),
  ...(size && { size }),
});

/** Every click that the page offers, with what it leads to. */
export function clicks(shop: Shop, visit: Visit): ReadonlyMap<string, () => Visit> {
  const offers = new Map<string, () => Visit>();
  const offer = (value: string, change: Partial<Visit>): void => {
    offers.set(value, () => ({ ...visit, ...change }));
  };
  if (visit.page === 'search' || visit.page === 'bought') return offers;
  if (visit.page === 'results') {
    for (const [rank, { id }] of listed(shop, visit).entries())
      offer(PLACES[rank]!, { page: 'item', item: id, chosen: {} });
    if ((visit.number + 1) * shop.results < search(shop.products, visit.query).length)
      offer(NEXT, { number: visit.number + 1 });
    if (visit.number > 0) offer(PREVIOUS, { number: visit.number - 1 });
  } else if (visit.page === 'item') {
    const { options } = productOf(shop, visit.item);
    for (const [name, values] of Object.entries(options))
      for (const value of values) offer(value, { chosen: inOrder({ ...visit.chosen, [name]: value }) });
    offer('features', { page: 'features' });
    offer('description', { page: 'description' });
    offer(BUY, { page: 'bought' });
    offer(PREVIOUS, { page: 'results', item: '', chosen: {} });
  } else offer(PREVIOUS, { page: 'item' });
  offer(BACK, entering(visit.wish));
  return offers;
}

/** What an action leads to: `search steel mug` or `search[steel mug]`, `click buy now` or `click[buy now]`. */
export function act(shop: Shop, visit: Visit, action: string): Visit | undefined {
  const [, verb, inBrackets, plain] = /^(search|click)(?:\[(.*)\]| (.*))$/s.exec(action.trim()) ?? [];
  const value = (inBrackets ?? plain ?? '').trim().toLowerCase();
  if (verb === undefined || value === '') return undefined;
  if (verb === 'click') return clicks(shop, visit).get(value)?.();
  if (visit.page !== 'search') return undefined;
  const words = knownWords(shop.products, value).slice(0, MOST_WORDS);
  return { ...visit, page: 'results', query: words.join(' '), number: 0 };
}

/** The reward of buying `product` with `chosen`. */
export const worth = (shop: Shop, wish: Wish, product: Product, chosen: Choices): number =>
  rewardOf(wish, productOf(shop, wish.product), product, chosen);

/** Whether the product is all that is asked for, with the right options. */
export const fits = (shop: Shop, wish: Wish, product: Product): boolean =>
  Object.entries(wish.options).every(([name, value]) =>
    product.options[name as OptionName]?.includes(value),
  ) && worth(shop, wish, product, wish.options) === 1;

/** The words of the wish, as they are said. */
export const queryOf = ({ attributes, kind, options }: Wish): string =>
  [...attributes, kind, ...Object.values(options)].join(' ');

/** The query of the fewest clicks: the words of the wish, or the whole title where they do not find it on the first page. */
function bestQuery(shop: Shop, wish: Wish): string {
  const { nouns, attributes } = productOf(shop, wish.product);
  const finds = (query: string): boolean =>
    search(shop.products, query)
      .slice(0, shop.results)
      .some((product) => fits(shop, wish, product));
  return finds(queryOf(wish)) ? queryOf(wish) : [...nouns, ...attributes].join(' ');
}

/** The fewest actions to a purchase that is worth 1. */
export function planFrom(shop: Shop, visit: Visit): readonly string[] {
  const { wish, page } = visit;
  const buying = (chosen: Choices): readonly string[] => [
    ...Object.entries(wish.options)
      .filter(([name, value]) => chosen[name as OptionName] !== value)
      .map(([, value]) => `click ${value}`),
    `click ${BUY}`,
  ];
  const fromSearch = (): readonly string[] => {
    const query = bestQuery(shop, wish);
    return [`search ${query}`, ...fromResults(query, 0)];
  };
  /** By the nearest page with a product that fits; a new search where that is no longer. */
  const fromResults = (query: string, number: number): readonly string[] => {
    const found = search(shop.products, query);
    const ways = found.flatMap((product, rank) => {
      if (!fits(shop, wish, product)) return [];
      const pages = Math.floor(rank / shop.results) - number;
      const turns = Array.from({ length: Math.abs(pages) }, () => `click ${pages > 0 ? NEXT : PREVIOUS}`);
      return [[...turns, `click ${PLACES[rank % shop.results]}`, ...buying({})]];
    });
    return ways.sort((one, other) => one.length - other.length)[0] ?? [`click ${BACK}`, ...fromSearch()];
  };
  const shorter = (one: readonly string[], other: readonly string[]): readonly string[] =>
    other.length < one.length ? other : one;
  const again = (): readonly string[] => [`click ${BACK}`, ...fromSearch()];
  if (page === 'bought') return [];
  if (page === 'search') return fromSearch();
  if (page === 'results') return shorter(fromResults(visit.query, visit.number), again());
  const fromItem = fits(shop, wish, productOf(shop, visit.item))
    ? buying(visit.chosen)
    : [`click ${PREVIOUS}`, ...fromResults(visit.query, visit.number)];
  return shorter(page === 'item' ? fromItem : [`click ${PREVIOUS}`, ...fromItem], again());
}

/** Searches for the kind alone, takes the first that the page says is not too dear, forgets options, and looks at nothing else. */
export function browseFrom(shop: Shop, visit: Visit, rng: Rng): string {
  const { wish, page, chosen, item } = visit;
  if (page === 'search') return `search ${rng.chance(0.5) ? wish.kind : queryOf(wish)}`;
  if (page === 'results') {
    const rows = listed(shop, visit);
    const cheap = rows.findIndex(({ price, kind }) => price <= wish.limit && kind === wish.kind);
    return `click ${rows.length === 0 ? BACK : PLACES[Math.max(0, cheap)]}`;
  }
  if (page !== 'item') return `click ${PREVIOUS}`;
  const missing = Object.entries(wish.options).filter(
    ([name, value]) =>
      chosen[name as OptionName] === undefined &&
      productOf(shop, item).options[name as OptionName]?.includes(value),
  );
  return missing.length > 0 && rng.chance(0.7) ? `click ${missing[0]![1]}` : `click ${BUY}`;
}

/** What may be searched for without end: each kind of product, and the words of the wish. */
export const queries = (shop: Shop, { wish }: Visit): readonly string[] => [
  ...new Set([bestQuery(shop, wish), queryOf(wish), ...kindsOf(shop.products)]),
];
