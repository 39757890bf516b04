/** The products of the shop: drawn once from a grammar of our own, so that the same number of them is the same catalogue for ever. */

import { Rng } from '../../src/core/rng.ts';

export type OptionName = 'colour' | 'size';

export interface Product {
  readonly id: string;
  readonly department: string;
  /** The second level of the category. */
  readonly shelf: string;
  /** What it is; the third level, and the query that finds its like. */
  readonly kind: string;
  /** The nouns of its title: brand, material, kind, two uses. */
  readonly nouns: readonly string[];
  /** What `features` lists. */
  readonly attributes: readonly string[];
  readonly options: Readonly<Partial<Record<OptionName, readonly string[]>>>;
  /** In dollars. */
  readonly price: number;
}

interface Shelf {
  readonly department: string;
  readonly shelf: string;
  readonly kinds: string;
  readonly materials: string;
  readonly uses: string;
  readonly attributes: string;
  readonly sizes: string;
}

const SHELVES: readonly Shelf[] = [
  {
    ...{ department: 'kitchen', shelf: 'drinkware', kinds: 'mug jug flask', materials: 'steel glass clay' },
    ...{ uses: 'coffee tea picnic office', attributes: 'insulated stackable dishwasher-safe unbreakable' },
    sizes: 'small large',
  },
  {
    ...{ department: 'kitchen', shelf: 'cookware', kinds: 'pan pot wok', materials: 'iron copper steel' },
    ...{ uses: 'soup eggs camping party', attributes: 'nonstick ovenproof light lidded' },
    sizes: 'narrow wide',
  },
  {
    ...{ department: 'clothes', shelf: 'coats', kinds: 'jacket parka vest', materials: 'wool cotton down' },
    ...{ uses: 'hiking work travel winter', attributes: 'waterproof hooded washable lined' },
    sizes: 'small medium large',
  },
  {
    ...{
      department: 'clothes',
      shelf: 'shoes',
      kinds: 'boots sandals slippers',
      materials: 'leather felt rubber',
    },
    ...{ uses: 'hiking garden home beach', attributes: 'waterproof padded slip-proof vegan' },
    sizes: 'small medium large',
  },
  {
    ...{
      department: 'home',
      shelf: 'lighting',
      kinds: 'lamp lantern candle',
      materials: 'brass paper glass',
    },
    ...{ uses: 'desk bedroom porch reading', attributes: 'dimmable cordless scented rustic' },
    sizes: 'short tall',
  },
  {
    ...{
      department: 'home',
      shelf: 'bedding',
      kinds: 'blanket pillow quilt',
      materials: 'wool cotton linen',
    },
    ...{ uses: 'sofa guests winter nursery', attributes: 'washable weighted reversible quilted' },
    sizes: 'single double',
  },
];
const BRANDS = 'marlow tandy orbit kestrel juno pravo linden sable'.split(' ');
const COLOURS = 'red blue green black white grey'.split(' ');

const catalogues = new Map<number, readonly Product[]>();

/** `count` products. The first ones are the same in every catalogue. */
export function catalogueOf(count: number): readonly Product[] {
  const known = catalogues.get(count);
  if (known) return known;
  const drawn = Array.from({ length: count }, (_, index) => drawProduct(index));
  catalogues.set(count, drawn);
  return drawn;
}

function drawProduct(index: number): Product {
  const rng = Rng.of('shop', 'product', index);
  // Every kind in turn, so that each has as many rivals.
  const shelf = SHELVES[index % SHELVES.length]!;
  const kinds = shelf.kinds.split(' ');
  const kind = kinds[Math.floor(index / SHELVES.length) % kinds.length]!;
  const some = (words: string, count: number): readonly string[] =>
    rng.shuffle(words.split(' ')).slice(0, count);
  const nouns = [rng.pick(BRANDS), ...some(shelf.materials, 1), kind, ...some(shelf.uses, 2)];
  return {
    ...{ id: `p${index + 1}`, department: shelf.department, shelf: shelf.shelf, kind, nouns },
    attributes: some(shelf.attributes, 2),
    options: {
      colour: rng.shuffle(COLOURS).slice(0, 3),
      // One product in four comes in one size.
      ...(rng.chance(0.75) && { size: shelf.sizes.split(' ') }),
    },
    price: 6 + rng.int(50),
  };
}

export const kindsOf = (count: number): readonly string[] => [
  ...new Set(catalogueOf(count).map(({ kind }) => kind)),
];
