/** What the matrix saw, a file for each major version of Node, and the table that the documentation makes of these files. */

import { COLUMNS, type Column } from './row.ts';

export interface SeenCell {
  readonly calls: number;
  readonly paths: number;
}

/** Absent cells are features that the client lacks. */
export interface SeenRow {
  readonly client: string;
  /** Of its packages. */
  readonly versions: Readonly<Record<string, string>>;
  readonly cells: Partial<Readonly<Record<Column, SeenCell>>>;
}

export interface Seen {
  /** Major version of Node. */
  readonly node: number;
  readonly rows: readonly SeenRow[];
}

const TITLES: Partial<Readonly<Record<Column, string>>> = { conversations: 'two at once' };
const ABSENT = '–';
/** Names of packages, functions and classes. */
const CODE = /^openai|@[\w-]+\/[\w-]+|[\w.]+\(\)|Chat[A-Z]\w+/g;

/** The paths of each cell, by client; where versions of Node differ, both. */
export function pageTable(files: readonly Seen[]): string {
  const clients = [...new Set(files.flatMap(({ rows }) => rows.map(({ client }) => client)))];
  const lines = clients.map((client) => {
    const rows = files.map(({ rows }) => rows.find((row) => row.client === client));
    return [
      client.replaceAll(CODE, '`$&`'),
      ...rows.map((row) => (row ? shortVersion(row) : ABSENT)),
      ...COLUMNS.map((column) => {
        const paths = rows.flatMap((row) => (row ? [row.cells[column]?.paths ?? ABSENT] : []));
        return [...new Set(paths)].join(', ');
      }),
    ];
  });
  const titles = [
    'client',
    ...files.map(({ node }) => `Node ${node}`),
    ...COLUMNS.map((one) => TITLES[one] ?? one),
  ];
  return [titles, titles.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Major and minor of the first of its packages. */
function shortVersion({ versions }: SeenRow): string {
  return Object.values(versions)[0]!.split('.').slice(0, 2).join('.');
}
