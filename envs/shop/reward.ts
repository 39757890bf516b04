/** WebShop's reward (arXiv 2207.01206): how much of what was asked for the bought product is. */

import type { OptionName, Product } from './catalogue.ts';

export type Choices = Readonly<Partial<Record<OptionName, string>>>;

/** What is asked for. */
export type Wish = {
  /** The product that it was drawn from; others may do as well. */
  readonly product: string;
  readonly kind: string;
  readonly attributes: readonly string[];
  readonly options: Choices;
  /** Most that it may cost, in dollars. */
  readonly limit: number;
};

/** Attributes, options and price that match, over their number, times how near the product is to what was meant. */
export function rewardOf(wish: Wish, meant: Product, bought: Product, chosen: Choices): number {
  const attributes = wish.attributes.filter((word) => says(bought, word)).length;
  const wanted = Object.entries(wish.options);
  const options = wanted.filter(([name, value]) => chosen[name as OptionName] === value).length;
  const price = bought.price <= wish.limit ? 1 : 0;
  const matched = attributes + options + price;
  return (nearness(meant, bought) * matched) / (wish.attributes.length + wanted.length + 1);
}

const says = ({ attributes, nouns }: Product, word: string): boolean =>
  attributes.includes(word) || nouns.includes(word);

/**
 * 1 for the same kind, two equal levels of the category, or more than a fifth of the nouns of the title in common; otherwise a
 * half, a tenth below a tenth of the nouns, and nothing without a common noun. The last two hold whatever the kind.
 */
export function nearness(meant: Product, bought: Product): number {
  const common = new Set(meant.nouns.filter((noun) => bought.nouns.includes(noun))).size;
  const share = common / new Set(meant.nouns).size;
  const isNear =
    meant.kind === bought.kind ||
    (meant.department === bought.department && meant.shelf === bought.shelf) ||
    share > 0.2;
  if (share === 0) return 0;
  if (share < 0.1) return 0.1;
  return isNear ? 1 : 0.5;
}
