import { describe, expect, it } from 'vitest';
import { exampleEvents } from './example-run.test-helper.ts';
import { runDisplay } from './terminal.ts';
import { memoryConsole } from './testing-console.test-helper.ts';

/** What a terminal shows after the text: understands "cursor up" and "clear to the end". */
function screenOf(text: string): string[] {
  const lines = [''];
  let row = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences start with a control character
  for (const part of text.split(/(\u001b\[\d*[AJ]|\n)/)) {
    const up = /\[(\d+)A$/.exec(part)?.[1];
    if (up !== undefined) row -= Number(up);
    else if (part.endsWith('[J')) lines.length = row;
    else if (part === '\n') row++;
    else lines[row] = (lines[row] ?? '') + part;
    lines[row] ??= '';
  }
  return lines;
}

describe('on a terminal', () => {
  it('paints a block over itself, below what lasts', () => {
    const console = memoryConsole({ interactive: true });
    let now = 0;
    const display = runDisplay(console, { json: false, now: () => now });
    display.show({ type: 'phase', phase: 'train', steps: 4 });
    for (const event of exampleEvents(false)) {
      now += 1000;
      display.show(event);
    }
    now += 5000;
    display.show({ type: 'progress', phase: 'train', done: 3, total: 64, waitingFor: 'episodes' });
    expect(screenOf(console.output()).join('\n')).toMatchInlineSnapshot(`
      "frozen-lake-rloo-1  frozen-lake · rloo · seed 1 · 498k parameters
      warm start  success 0.42 (0.38 to 0.45), greedy 0.72
      warning step 1: no update was made (nothing-learned)
      step 2      success 0.75 (0.71 to 0.78), greedy 0.96

        step 2     ━━━━━━━━━━━━━───────────── 4  reinforcement learning, 11s left
        success      0.70  ▅▆
        tokens/s   12.3k acting, 6.10k learning
        waits for  3 of 64 episodes
      "
    `);
    display.close();
    expect(screenOf(console.output())).toHaveLength(5);
    expect(screenOf(console.output()).at(-1)).toBe('');
  });

  it('does not repaint more often than it can be read', () => {
    const console = memoryConsole({ interactive: true });
    const display = runDisplay(console, { json: false, now: () => 0 });
    display.show({ type: 'phase', phase: 'train', steps: 4 });
    const before = console.output().length;
    for (let done = 0; done < 100; done++)
      display.show({ type: 'progress', phase: 'train', done, total: 100 });
    expect(console.output().length).toBe(before);
    display.close();
  });
});

describe('in a log', () => {
  it('writes plain lines, progress at most every few seconds', () => {
    const console = memoryConsole();
    let now = 0;
    const display = runDisplay(console, { json: false, now: () => now });
    display.show({ type: 'phase', phase: 'train', steps: 4 });
    for (const event of exampleEvents()) {
      now += 700;
      display.show(event);
      display.show({ type: 'progress', phase: 'train', done: 64, total: 64, waitingFor: 'episodes' });
    }
    display.close();
    expect(console.output()).toMatchInlineSnapshot(`
      "reinforcement learning, 4 steps
      frozen-lake-rloo-1  frozen-lake · rloo · seed 1 · 498k parameters
      warm start  success 0.42 (0.38 to 0.45), greedy 0.72
      warning step 1: no update was made (nothing-learned)
        step 2/4 · success 0.70 · return 0.70 · tokens/s 12.3k acting, 6.10k learning · 3.5s left · waits for the engine
      step 2      success 0.75 (0.71 to 0.78), greedy 0.96
      step 4      success 0.94 (0.90 to 0.97), greedy 0.96
        step 4/4 · success 0.93 · return 0.93 · tokens/s 12.3k acting, 6.10k learning · waits for gradient steps on 64 episodes
      "
    `);
  });
});

it('writes stored events as JSON lines for programs', () => {
  const console = memoryConsole({ interactive: true });
  const display = runDisplay(console, { json: true, now: () => 0 });
  const events = exampleEvents();
  for (const event of events) display.show(event);
  display.show({ type: 'progress', phase: 'train', done: 1, total: 2 });
  display.close();
  const lines = console.output().trim().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(events);
});
