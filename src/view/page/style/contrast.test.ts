/** Highlights are invisible to checkers of pages, so their colours are checked here. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { legends } from '../tokens/scales.ts';

const read = (name: string): string => readFileSync(new URL(`./${name}.css`, import.meta.url), 'utf8');

function variables(theme: 'light' | 'dark'): Map<string, string> {
  const [, light, dark] = /:root \{([^}]*)\}\s*:root\[data-theme="dark"\] \{([^}]*)\}/.exec(read('base'))!;
  const rules = theme === 'light' ? light! : light! + dark!;
  return new Map([...rules.matchAll(/(--[\w-]+): (#[0-9a-f]+)/g)].map(([, name, value]) => [name!, value!]));
}

function luminance(colour: string): number {
  const hex =
    colour.length === 4 ? [...colour.slice(1)].map((digit) => digit + digit).join('') : colour.slice(1);
  const [red, green, blue] = [0, 2, 4].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

test.each(['light', 'dark'] as const)('every step of every scale can be read, %s', (theme) => {
  const colours = variables(theme);
  const css = read('tokens');
  for (const { name } of Object.values(legends).flatMap(({ steps }) => steps)) {
    const own = (selector: string): string[] =>
      [...css.matchAll(/([^{}]+)\{([^}]*)\}/g)]
        .filter(([, selectors]) => selectors!.includes(selector))
        .filter(([, selectors]) => theme === 'dark' || !selectors!.includes('data-theme'))
        .map(([, , body]) => body!);
    for (const selector of [`.swatch.${name}`, `::highlight(${name})`]) {
      const bodies = own(selector).join('');
      const last = (property: string): string =>
        colours.get(
          [...bodies.matchAll(new RegExp(`(?:^|[^-])${property}: var\\((--[\\w-]+)\\)`, 'g'))].at(-1)![1]!,
        )!;
      const ratio = contrast(last('background-color'), last('color'));
      expect([selector, ratio >= 4.5 ? 'readable' : ratio]).toEqual([selector, 'readable']);
    }
  }
});
