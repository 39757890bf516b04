/** Where the page is: the path says what is shown, the query how. In a bundle both stand behind `#`. */

import { computed, signal } from '@preact/signals';
import { bundleStart } from '../data/bundle.ts';

interface Place {
  readonly path: string;
  readonly query: string;
}

function here(): Place {
  if (bundleStart === undefined) return { path: location.pathname, query: location.search };
  const [path = '', query = ''] = (location.hash.slice(1) || bundleStart).split(/\?(.*)/s);
  return { path, query: query && `?${query}` };
}

/** The same place as a browser has it in its address. */
export const hrefOf = (to: string): string => (bundleStart === undefined ? to : `#${to}`);

export const place = signal<Place>(here());
export const path = computed(() => place.value.path);
export const query = computed(() => new URLSearchParams(place.value.query));

addEventListener('popstate', () => {
  place.value = here();
});

/** Go to another page. */
export function go(to: string): void {
  const { path, query } = here();
  if (to === path + query) return;
  history.pushState(null, '', hrefOf(to));
  place.value = here();
  scrollTo(0, 0);
}

/** Change how the page is shown; what is as usual is left out of the address. */
export function show(changes: Readonly<Record<string, string | number | undefined>>): void {
  const { path, query } = here();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) next.delete(name);
    else next.set(name, String(value));
  }
  const text = next.toString();
  history.replaceState(history.state, '', hrefOf(path + (text ? `?${text}` : '')));
  place.value = here();
}

/** The parts of the path, decoded; an address that is not valid has none. */
export const segments = computed((): readonly string[] => {
  try {
    return path.value.split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return [];
  }
});

/** An address of these parts, each of which may be any text. */
export function address(...parts: readonly (string | number)[]): string {
  return `/${parts.map((part) => encodeURIComponent(String(part))).join('/')}`;
}
