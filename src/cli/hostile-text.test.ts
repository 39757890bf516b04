/** What models, environments and files write is shown, never obeyed. */

import { expect, test } from 'vitest';
import { z } from 'zod';
import { TurnwiseError } from '../core/errors.ts';
import { user } from '../core/messages.ts';
import { painter } from '../show/console.ts';
import { episodeText } from '../show/episode-text.ts';
import { defineCommand } from './command.ts';
import { runCommandLine } from './command-line.ts';
import { stateText } from './terminal/live-episode.ts';
import { runDisplay } from './terminal/terminal.ts';
import { memoryConsole, noInterrupts } from './testing-console.test-helper.ts';

/** Sets the window's title, clears the screen, copies to the clipboard, moves up, hides, colours, turns the order. */
const HOSTILE =
  '\u001b]0;t\u0007\u001b[2J\u001b]52;c;aGk=\u001b\\\u001b[1A\u001b[8m\u001b[31m\u009b2J\u202eabc\r\u0000';

/** Anything but our own styles. */
const STEERING =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what it looks for.
  /\u001b(?!\[(?:1|2|22|3[1-9]|90)m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202e]/;

async function shownBy(
  write: (console: ReturnType<typeof memoryConsole>) => void,
  colour: boolean,
): Promise<string> {
  const console = memoryConsole({ colour, interactive: colour });
  const command = defineCommand({
    name: 'say',
    summary: '',
    arguments: [],
    options: z.strictObject({}),
    examples: [],
    run: async (invocation) => write(invocation.console as typeof console),
  });
  await runCommandLine(['say'], { commands: [command], version: '0', console, interrupts: noInterrupts });
  return console.output() + console.errors();
}

test.each([true, false])('whatever a command prints or throws, with colour %s', async (colour) => {
  const printed = await shownBy((console) => {
    console.write(`${painter(colour)('red', HOSTILE)}\n`);
    console.writeError(HOSTILE);
    throw new TurnwiseError('upstream-failed', { what: 'It failed', seen: HOSTILE });
  }, colour);
  expect(printed).toContain('␛]0;t␇␛[2J␛]52;c;aGk=␛\\␛[1A␛[8m');
  expect(printed).not.toMatch(STEERING);
  const internal = await shownBy(() => {
    throw new Error(HOSTILE);
  }, colour);
  expect(internal).toContain('␛]0;t␇');
  expect(internal).not.toMatch(STEERING);
});

test('a refusal of the file system is told as one, not as a mistake of the program', async () => {
  const refused = Object.assign(new Error("EACCES: permission denied, mkdir '/usr/exported'"), {
    ...{ code: 'EACCES', path: '/usr/exported' },
  });
  const errors = await shownBy(() => {
    throw refused;
  }, false);
  expect(errors.replaceAll('\n', ' ')).toBe(
    'error: The disk refused a write. Seen: EACCES while writing /usr/exported. Nothing more was written. Once it can be written, run the same command again. (disk-failed) ',
  );
});

test('colours that somebody else wrote are not shown as colours in episodes, warnings and errors', async () => {
  const red = '\u001b[31mred';
  const turn = { messages: [user(red)], text: red, reward: 0, valid: true, picture: `${red}\n${red}` };
  const options = { columns: 80, colour: true, linesPerMessage: 3, turns: 4 };
  const console = memoryConsole({ colour: true, interactive: true });
  const display = runDisplay(console, { json: false, now: () => 0 });
  display.show({ type: 'warning', code: 'episodes-failed', message: red });
  display.close();
  const error = await shownBy(() => {
    throw new TurnwiseError('upstream-failed', { what: red });
  }, true);
  for (const text of [
    episodeText({ turns: [turn], outcome: 0, stop: 'done' }, options).join('\n'),
    stateText('turn 1', red, [user(red)], { colour: true }),
    console.output(),
    error,
  ]) {
    expect(text).toContain('␛[31mred');
    expect(text).not.toContain(red);
  }
});
