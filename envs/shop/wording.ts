/** The pages of the shop in words: few for small models, sentences for those that read. */

import type { NaturalWording } from '../../src/env/environment.ts';
import type { Product } from './catalogue.ts';
import { clicks, listed, PLACES, productOf, queryOf, type Shop, type Visit } from './pages.ts';
import type { Wish } from './reward.ts';
import { search } from './search.ts';

const chosenOf = ({ chosen }: Visit): readonly string[] => Object.values(chosen);

/** The wish, the page, and what it offers. Small models hardly compare numbers, so a price is `cheap` or `dear` for the wish. */
export function observe(shop: Shop, visit: Visit): string {
  const { wish, page, item } = visit;
  const price = ({ price: dollars }: Product): string => (dollars <= wish.limit ? 'cheap' : 'dear');
  const wanted = `want ${queryOf(wish)}`;
  if (page === 'search') return `${wanted} page search`;
  if (page === 'results') {
    // No wish names a brand or a use.
    const rows = listed(shop, visit).map((product, rank) =>
      [PLACES[rank], product.nouns[1], product.kind, price(product)].join(' '),
    );
    const more = clicks(shop, visit).has('next >') ? ['more'] : [];
    return [wanted, 'page results', ...(rows.length > 0 ? rows : ['none']), ...more].join(' ');
  }
  const product = productOf(shop, item);
  const seen = {
    item: [...Object.values(product.options).flat(), 'chosen', ...chosenOf(visit)],
    features: product.attributes,
    description: [product.department, product.shelf],
  }[page as 'item' | 'features' | 'description'];
  return [wanted, 'page', page, product.kind, price(product), ...seen].join(' ');
}

function request({ kind, attributes, options, limit }: Wish): string {
  const chosen = Object.entries(options).map(([name, value]) => `${name} ${value}`);
  return `I want: ${kind}, ${[...attributes, ...chosen].join(', ')}, for at most ${limit} dollars.`;
}

const title = ({ nouns: [brand, material, kind, ...uses] }: Product): string =>
  `${brand} ${material} ${kind} for ${uses.join(' and ')}`;

/** The page as WebShop shows it to models: its elements joined by a mark, then what can be done. */
export function describe(shop: Shop, visit: Visit): string {
  const { wish, page, item, query, number } = visit;
  const may = [
    ...(page === 'search' ? ['search[words]'] : []),
    ...[...clicks(shop, visit).keys()].map((value) => `click[${value}]`),
  ];
  return [request(wish), ...elements(), `You may: ${may.join(', ')}.`].join(' [SEP] ');

  function elements(): readonly string[] {
    if (page === 'search') return ['Search'];
    if (page === 'results') {
      const total = search(shop.products, query).length;
      const rows = listed(shop, visit).map(
        (product, rank) => `${PLACES[rank]} [SEP] ${title(product)} [SEP] $${product.price}`,
      );
      return [`Page ${number + 1}, ${total} results for "${query}"`, ...rows];
    }
    const product = productOf(shop, item);
    const head = [title(product), `$${product.price}`];
    if (page === 'features') return [...head, `Features: ${product.attributes.join(', ')}`];
    if (page === 'description')
      return [...head, `A ${product.kind} of our department ${product.department}, ${product.shelf}`];
    const options = Object.entries(product.options).map(([name, values]) => `${name}: ${values.join(', ')}`);
    return [...head, ...options, `Chosen: ${chosenOf(visit).join(', ') || 'nothing'}`];
  }
}

export function naturalWording(shop: Shop): NaturalWording<Visit> {
  return {
    instructions: [
      'Buy in a shop what you are asked for: search for it, open a product, choose its options and buy it.',
      'Features are on a page of their own. You can buy once. The more of what was asked for is right, the better.',
      'Answer with one action and nothing else.',
    ].join(' '),
    example: [
      [
        'I want: table, foldable, colour oak, for at most 80 dollars. [SEP] Search [SEP] You may: search[words].',
        'search[foldable table]',
      ],
      [
        'I want: table, foldable, colour oak, for at most 80 dollars. [SEP] halden pine table for garden and party [SEP] $70 [SEP] colour: oak, ash [SEP] Chosen: oak [SEP] You may: click[oak], click[ash], click[buy now].',
        'click[buy now]',
      ],
    ],
    observe: (visit, step) => {
      if (step?.done)
        return step.success ? 'That is what was asked for.' : 'That is not all that was asked for.';
      return `${step?.valid === false ? 'That is not possible here. ' : ''}${describe(shop, visit)}`;
    },
  };
}
