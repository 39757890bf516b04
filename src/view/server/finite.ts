/** Numbers for JSON: what it has no word for is null. */
export function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

export function allFinite<Key extends string>(
  values: Readonly<Record<Key, number>>,
): Record<Key, number | null> {
  return Object.fromEntries(
    Object.entries<number>(values).map(([key, value]) => [key, finite(value)]),
  ) as Record<Key, number | null>;
}
