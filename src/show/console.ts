/** Where a command writes and what that place can show; tests give it a buffer. */

import { stripVTControlCharacters, styleText } from 'node:util';
import { STYLE, visible, visibleStyled } from '../core/visible.ts';

type Format = Parameters<typeof styleText>[0];

export interface Console {
  /** Width in characters. */
  readonly columns: number;
  /** Whether a person watches: lines may be repainted and questions asked. */
  readonly interactive: boolean;
  readonly colour: boolean;
  /** To standard output: the result. */
  write(text: string): void;
  /** To standard error: everything else. */
  writeError(text: string): void;
  /** Move the cursor up over so many lines, and clear the screen from there. */
  erase(lines: number): void;
}

const narrowest = 40;
/** Wider lines of prose are hard to read. */
const widest = 100;

export function processConsole(): Console {
  const { stdout, stderr, env } = process;
  const interactive = stdout.isTTY === true;
  const refused = (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb';
  return {
    get columns() {
      return Math.min(widest, Math.max(narrowest, stdout.columns ?? 80));
    },
    interactive: interactive && env.TERM !== 'dumb',
    colour: (interactive && !refused) || ((env.FORCE_COLOR ?? '0') !== '0' && !refused),
    write: (text) => void stdout.write(text),
    writeError: (text) => void stderr.write(text),
    erase: (lines) => void stdout.write(eraseSequence(lines)),
  };
}

export const eraseSequence = (lines: number): string => `\u001b[${lines}A\u001b[J`;

/** The same place, where nothing that a model, an environment, a server or a file says can steer the terminal. */
export function safeConsole(console: Console): Console {
  const clean = (text: string): string => (console.colour ? visibleStyled(text) : visible(text));
  return {
    get columns() {
      return console.columns;
    },
    interactive: console.interactive,
    colour: console.colour,
    write: (text) => console.write(clean(text)),
    writeError: (text) => console.writeError(clean(text)),
    erase: (lines) => console.erase(lines),
  };
}

/** A function that styles text where colours are wanted, and returns it unchanged elsewhere. */
export function painter(colour: boolean): (format: Format, text: string) => string {
  return (format, text) =>
    colour && text !== '' ? styleText(format, text, { validateStream: false }) : text;
}

export type Paint = ReturnType<typeof painter>;

/** Width on the screen: without colours, and with wide characters (emoji, CJK) counted twice. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of stripVTControlCharacters(text)) width += characterWidth(character.codePointAt(0)!);
  return width;
}

const PLAIN = /^[ -~]*$/;

function characterWidth(code: number): number {
  if ((code >= 0x300 && code <= 0x36f) || code === 0x200d || (code >= 0xfe00 && code <= 0xfe0f)) return 0;
  const wide =
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd);
  return wide ? 2 : 1;
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - displayWidth(text))) + text;
}

/** Cut to `width` with an ellipsis; `text` has no colours. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  for (const character of text) {
    if (displayWidth(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/** The same for text that may be styled: all styles are kept, so that each that begins also ends. */
export function truncateStyled(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let room = width - 1;
  const parts = text.split(STYLE).map((part, index) => {
    if (index % 2 === 1 || room < 0) return index % 2 === 1 ? part : '';
    const shown = displayWidth(part) <= room ? part : truncate(`${part}  `, room + 1);
    room -= displayWidth(shown);
    return shown;
  });
  return parts.join('');
}

/** Lines of at most `width` characters, broken at spaces; longer words are cut. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    let filled = 0;
    for (let word of paragraph.split(' ')) {
      if (line !== '' && filled + 1 + displayWidth(word) > width) {
        lines.push(line);
        line = '';
      }
      while (displayWidth(word) > width) {
        lines.push(word.slice(0, width));
        word = word.slice(width);
      }
      filled = displayWidth(word) + (line === '' ? 0 : filled + 1);
      line = line === '' ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines;
}
