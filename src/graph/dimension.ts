/** Arithmetic on axis sizes that may be symbolic, kept in one canonical spelling so that equal sizes are equal strings. */

import { TurnwiseError } from '../core/errors.ts';
import type { Dim } from './tensor.ts';

/** A name with a constant added: `T`, `T-1`. */
export interface SymbolicFactor {
  readonly name: string;
  readonly offset: number;
}

/** A size as a number times symbolic factors. */
export interface Factors {
  readonly coefficient: number;
  readonly symbols: readonly SymbolicFactor[];
}

const factorPattern = /^\(?([A-Za-z_]\w*)([+-]\d+)?\)?$/;

/** Takes a size apart. Throws `shape-mismatch` when it is neither a non-negative integer nor a size expression. */
export function factors(dimension: Dim): Factors {
  if (typeof dimension === 'number') {
    if (!Number.isInteger(dimension) || dimension < 0) throw notADimension(dimension);
    return { coefficient: dimension, symbols: [] };
  }
  let coefficient = 1;
  const symbols: SymbolicFactor[] = [];
  for (const part of dimension.split('*')) {
    const match = factorPattern.exec(part.trim());
    if (match) symbols.push({ name: match[1]!, offset: Number(match[2] ?? 0) });
    else if (/^\d+$/.test(part.trim())) coefficient *= Number(part);
    else throw notADimension(dimension);
  }
  return { coefficient, symbols };
}

/** The canonical spelling: numeric coefficient first, then factors in alphabetical order. */
export function canonical(dimension: Dim): Dim {
  return typeof dimension === 'number' && dimension >= 0 ? dimension : spell(factors(dimension));
}

/** The product of sizes; of none, 1. */
export function product(dimensions: readonly Dim[]): Dim {
  const parts = dimensions.map(factors);
  return spell({
    coefficient: parts.reduce((total, part) => total * part.coefficient, 1),
    symbols: parts.flatMap((part) => part.symbols),
  });
}

/** A size plus a constant. Symbolic products cannot be added to. */
export function plus(dimension: Dim, constant: number): Dim {
  if (typeof dimension === 'number') return dimension + constant;
  const { coefficient, symbols } = factors(dimension);
  if (coefficient !== 1 || symbols.length !== 1) {
    if (constant === 0) return dimension;
    throw new TurnwiseError('shape-mismatch', {
      what: 'Cannot add a constant to a product of symbolic sizes',
      seen: `${dimension} plus ${constant}`,
      next: 'Slice or concatenate along a single symbolic axis before reshaping',
    });
  }
  const { name, offset } = symbols[0]!;
  return spell({ coefficient: 1, symbols: [{ name, offset: offset + constant }] });
}

/** The value of a size when the names have these values. */
export function evaluate(dimension: Dim, sizes: Readonly<Record<string, number>>): number {
  const { coefficient, symbols } = factors(dimension);
  return symbols.reduce((total, { name, offset }) => total * (sizes[name]! + offset), coefficient);
}

export function sameShape(a: readonly Dim[], b: readonly Dim[]): boolean {
  return a.length === b.length && a.every((dimension, axis) => dimension === b[axis]);
}

export function formatShape(shape: readonly Dim[]): string {
  return `[${shape.join(', ')}]`;
}

/** The shape two operands broadcast to by the usual right-aligned rule. Throws `shape-mismatch` naming the operator. */
export function broadcastShapes(operator: string, ...shapes: readonly (readonly Dim[])[]): readonly Dim[] {
  const rank = Math.max(...shapes.map((shape) => shape.length));
  return Array.from({ length: rank }, (_, axis) => {
    let size: Dim = 1;
    for (const shape of shapes) {
      const own = shape[axis - rank + shape.length] ?? 1;
      if (own === 1 || own === size) continue;
      if (size !== 1)
        throw shapeMismatch(operator, shapes, 'equal sizes or 1 on every axis, aligned from the right');
      size = own;
    }
    return size;
  });
}

/** The error every operator raises for operands that do not fit. */
export function shapeMismatch(
  operator: string,
  shapes: readonly (readonly Dim[])[],
  allowed: string,
): TurnwiseError {
  return new TurnwiseError('shape-mismatch', {
    what: `The shapes given to '${operator}' do not fit`,
    seen: shapes.map(formatShape).join(' and '),
    allowed,
    fields: { operator },
  });
}

function spell({ coefficient, symbols }: Factors): Dim {
  if (symbols.length === 0 || coefficient === 0) return coefficient;
  const alone = symbols.length === 1 && coefficient === 1;
  const words = [...symbols]
    .sort((a, b) => (a.name === b.name ? a.offset - b.offset : a.name < b.name ? -1 : 1))
    .map(({ name, offset }) => {
      if (offset === 0) return name;
      const sum = `${name}${offset > 0 ? '+' : ''}${offset}`;
      return alone ? sum : `(${sum})`;
    });
  return (coefficient === 1 ? words : [coefficient, ...words]).join('*');
}

function notADimension(dimension: Dim): TurnwiseError {
  return new TurnwiseError('shape-mismatch', {
    what: 'This is not an axis size',
    seen: String(dimension),
    allowed: "a non-negative integer, or an expression such as 'B', 'T-1' or 'B*T'",
  });
}
