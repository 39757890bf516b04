/** Getters as fields: an object that makes its fields as they are read is spread, compared and written like a plain one. */

/** The getters of a class, in the order in which they stand in it. */
export function gettersOf(type: { readonly prototype: object }): readonly (readonly [string, unknown])[] {
  const { constructor: _, ...getters } = Object.getOwnPropertyDescriptors(type.prototype) as Record<
    string,
    PropertyDescriptor
  >;
  return Object.entries(getters).map(([name, { get }]) => [name, get] as const);
}

/** Makes a getter that is listed like any field. `Object.defineProperty` takes three times as long. */
export const listGetter = Reflect.get(Object.prototype, '__defineGetter__') as {
  call(owner: object, name: string, getter: unknown): void;
};

/** Milliseconds in a whole number, without the sign that rounding may leave at a zero: a fraction is an object of its own. */
export const tenthsOf = (ms: number): number => Math.round(10 * ms) + 0;
