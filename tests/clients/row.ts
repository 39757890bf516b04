/** A row of the matrix: one client in one dialect, by a function that holds a conversation with it. */

import type { Desk } from './desk.ts';

export interface Talk {
  readonly system: string;
  readonly questions: readonly string[];
  readonly tools: boolean;
  readonly stream: boolean;
  /** The answer is an object with city and degrees. */
  readonly structured: boolean;
  /** Only what is new is sent, with the id of the answer before. */
  readonly previous: boolean;
  /** Before the second question the client rewrites the first answer. */
  readonly rewrite: boolean;
}

export const COLUMNS = [
  'plain',
  'tools',
  'parallel',
  'streaming',
  'structured',
  'previous id',
  'conversations',
  'rewritten',
] as const;
export type Column = (typeof COLUMNS)[number];

export interface Row {
  readonly name: string;
  /** Packages whose versions are told. */
  readonly packages: readonly string[];
  /** @returns the last answer, as text */
  talk(desk: Desk, talk: Talk): Promise<string>;
  /** Columns that the client has no way to ask for. */
  readonly without?: readonly Column[];
  /** Paths and why they begin, where the client changes what was said. */
  readonly edits?: Partial<
    Record<Column, { readonly calls?: number; readonly paths: number; readonly reasons: readonly string[] }>
  >;
}

export const REWRITTEN = 'It was cold.';
