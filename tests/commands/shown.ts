/** The commands that the pages show: lines of their `sh` blocks, read as a shell reads them. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('../..', import.meta.url).pathname;

export interface Shown {
  readonly page: string;
  /** Of the page, from 1. */
  readonly line: number;
  /** As it stands there, without comments; lines that go on are one. */
  readonly text: string;
}

/** All pages, paths from the root of the clone. */
export function pages(): string[] {
  const inFolder = (folder: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`)
      .sort();
  return ['README.md', 'CONTRIBUTING.md', ...inFolder('docs'), ...inFolder('examples'), ...inFolder('envs')];
}

/** The commands of a page, in their order. */
export function commandsOf(page: string): Shown[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```(?:sh|bash|console)\n(.*?)^```/gms)].flatMap((block) => {
    const first = text.slice(0, block.index).split('\n').length + 1;
    return joined(block[1]!.split('\n'), first).flatMap(({ line, text }) => {
      const said = withoutComment(text).trim();
      return said === '' ? [] : said.split(' && ').map((one) => ({ page, line, text: one.trim() }));
    });
  });
}

/** Lines with those that go on after a backslash. */
function joined(lines: readonly string[], first: number): { line: number; text: string }[] {
  const all: { line: number; text: string }[] = [];
  let goesOn = false;
  for (const [index, text] of lines.entries()) {
    if (goesOn) all.at(-1)!.text += ` ${text.replace(/\\$/, '').trim()}`;
    else all.push({ line: first + index, text: text.replace(/\\$/, '') });
    goesOn = text.endsWith('\\');
  }
  return all;
}

const TOKEN = /'[^']*'|"[^"]*"|\s+#.*$|[^\s'"]+|\s+/g;

function withoutComment(text: string): string {
  return (text.match(TOKEN) ?? [])
    .filter((token) => !/^\s+#/.test(token))
    .join('')
    .replace(/^#.*/, '');
}

/** The words of a command without pipes, quotes taken away. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let open = false;
  for (const token of text.match(TOKEN) ?? []) {
    if (/^\s/.test(token)) open = false;
    else {
      const part = token.replace(/^(['"])(.*)\1$/s, '$2');
      if (open) words[words.length - 1] += part;
      else words.push(part);
      open = true;
    }
  }
  return words;
}

/** The block of a page in this language that has this text. */
export function blockOf(page: string, language: string, within: string): string {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))];
  const found = blocks.map(([, code]) => code!).filter((code) => code.includes(within));
  if (found.length !== 1) throw new Error(`${page} shows ${found.length} blocks with "${within}"`);
  return found[0]!;
}
