/** docs/horizon.md has a row for everything that long episodes may use. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { judgeClaims } from '../src/compare/claims/claim-verdict.ts';
import { curationRegistry, tasksRegistry } from '../src/curation/registry.ts';
import { contextRegistry } from '../src/rollout/context/contexts.ts';
import { turnsRegistry } from '../src/rollout/turns/turn-controls.ts';
import { recipes } from '../src/train/recipes/recipes.ts';

const page = readFileSync(new URL('../docs/horizon.md', import.meta.url), 'utf8');

/** Names in the first cells of the table under a heading. */
function rowsUnder(heading: string): string[] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [table = ''] = section.split('\n## ');
  return [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([\w-]+)`/g)].map(([, name]) => name!),
  );
}

const names = ({ all }: { readonly all: readonly { readonly name: string }[] }): string[] =>
  all.map(({ name }) => name).sort();

test('every context, turn control and curation has its row', () => {
  expect(rowsUnder('Contexts').sort()).toEqual(names(contextRegistry));
  expect(rowsUnder('Turn controls').sort()).toEqual(names(turnsRegistry));
  expect(rowsUnder('Curations').sort()).toEqual(names(curationRegistry));
});

test('every source of tasks and every recipe that branches has its row', () => {
  const branching = recipes
    .filter(({ act, settings }) => act !== undefined || settings.branching?.explorer !== undefined)
    .map(({ name }) => name);
  expect(rowsUnder('Sources of tasks and starts').sort()).toEqual(
    [...names(tasksRegistry), ...branching].sort(),
  );
});

test('contexts that ask or have tools of their own are marked: they have a control that is not trained', () => {
  const marked = [...page.matchAll(/^\| `([\w-]+)` \* \|/gm)].map(([, name]) => name!);
  const writing = contextRegistry.all
    .filter(({ answer, script }) => answer ?? script)
    .map(({ name }) => name);
  expect(marked.sort()).toEqual(writing.sort());
});

test('the state of a row is the verdict of its claim', () => {
  const states = [...page.matchAll(/^\|.* \| ([^|]+) \|$/gm)].map(([, cell]) => cell!);
  const said = states.flatMap((cell) =>
    [...cell.matchAll(/([a-z][a-z ]*): `([\w-]+)`/g)].map(([, state, id]) => [id!, state!]),
  );
  const judged = new Map(
    judgeClaims('bench/claims/horizon').map(({ claim, judgement }) => [claim.id, judgement.verdict]),
  );
  expect([...judged.keys()].filter((id) => !said.some(([row]) => row === id))).toEqual([]);
  expect(said.filter(([id, state]) => judged.get(id!) !== state)).toEqual([]);
});
