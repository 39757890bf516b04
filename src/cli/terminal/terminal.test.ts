import { describe, expect, it } from 'vitest';
import { displayWidth } from '../../show/console.ts';
import type { StoredEvent } from '../../train/loop/events.ts';
import { exampleEvents } from '../example-run.test-helper.ts';
import { memoryConsole } from '../testing-console.test-helper.ts';
import { runDisplay } from './terminal.ts';

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

        step 2     ━━━━━━━━━━━━━───────────── 4  reinforcing, 11s left
        success      0.70  ▅▆
        tokens/s   12.3k acting, 6.10k learning
        waits for  64 episodes, 3 done
      "
    `);
    display.close();
    expect(screenOf(console.output())).toHaveLength(5);
    expect(screenOf(console.output()).at(-1)).toBe('');
  });

  it.each([80, 60, 40])('has no line that wraps at %d columns, however long is left', (columns) => {
    const console = memoryConsole({ interactive: true, colour: true, columns });
    let now = 0;
    const display = runDisplay(console, { json: false, now: () => now });
    const [step] = exampleEvents(false).filter(({ type }) => type === 'step');
    display.show({ type: 'phase', phase: 'train', steps: 100_000 });
    for (let number = 1; number < 4; number++) {
      now += 3_600_000;
      display.show({ ...step!, type: 'step', step: number, steps: 100_000 } as StoredEvent);
    }
    display.show({ type: 'progress', phase: 'train', done: 3, total: 64, waitingFor: 'x'.repeat(200) });
    const lines = screenOf(console.output());
    expect(lines.join('\n')).toMatch(columns < 60 ? /…/ : /\d{5}h/);
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(columns);
  });

  it('says that demonstrations are imitated only where they are', () => {
    const shown = (steps: number): string => {
      const console = memoryConsole({ interactive: true });
      const log = memoryConsole();
      for (const place of [console, log]) {
        const display = runDisplay(place, { json: false, now: () => 0 });
        display.show({ type: 'phase', phase: 'clone', steps });
        display.close();
      }
      return console.output() + log.output();
    };
    expect(shown(50).match(/imitating/g)).toHaveLength(2);
    expect(shown(0)).not.toContain('imitating');
  });

  it('tells warnings that differ only in ids once, and how many there were', () => {
    for (const interactive of [true, false]) {
      const console = memoryConsole({ interactive });
      const display = runDisplay(console, { json: false, now: () => 0 });
      for (let step = 1; step <= 136; step++) {
        const message = `step ${step}: 3 × failed:environment: session s-${step}f00ba5 of room ${step} is gone`;
        display.show({ type: 'warning', code: 'episodes-failed', message });
      }
      display.show({ type: 'warning', code: 'episodes-failed', message: 'step 9: 1 × timeout: too late' });
      display.close();
      expect(
        console
          .output()
          .match(/warning.*/g)!
          .map((line) => line.trimEnd()),
      ).toEqual([
        'warning step 1: 3 × failed:environment: session s-1f00ba5 of room 1 is gone (episodes-failed)',
        'warning 10 like this: step 10: 3 × failed:environment: session s-10f00ba5 of room 10 is gone (episodes-failed)',
        'warning 100 like this: step 100: 3 × failed:environment: session s-100f00ba5 of room 100 is gone (episodes-failed)',
        'warning step 9: 1 × timeout: too late (episodes-failed)',
        'warning 136 like this: step 1: 3 × failed:environment: session s-1f00ba5 of room 1 is gone (episodes-failed)',
      ]);
    }
  });

  it('says how much may be written in a turn', () => {
    const console = memoryConsole();
    const display = runDisplay(console, { json: false, now: () => 0 });
    const [start] = exampleEvents();
    display.show({ ...start, turnTokens: 9 } as StoredEvent);
    display.close();
    expect(console.output()).toContain('498k parameters\n  at most 9 tokens a turn\n');
  });

  it('says no time for an evaluation that nobody estimated before a quarter of it is over', () => {
    const console = memoryConsole({ interactive: true });
    let now = 0;
    const display = runDisplay(console, { json: false, now: () => now });
    const progress = { type: 'progress', phase: 'evaluate', moment: 'before', total: 64 } as const;
    const screen = () => screenOf(console.output()).join('\n');
    display.show({ type: 'phase', phase: 'clone', steps: 16 });
    display.show({ ...progress, done: 0 });
    now += 4000;
    display.show({ ...progress, done: 1 });
    expect(screen()).toContain('evaluating before training');
    expect(screen()).not.toContain('left');
    now += 1000;
    display.show({ ...progress, done: 16 });
    expect(screen()).toContain('evaluating before training, 15s left');
    display.close();
  });

  it('names an evaluation, with its tokens, their rate and the time left', () => {
    const console = memoryConsole({ interactive: true });
    let now = 0;
    const display = runDisplay(console, { json: false, now: () => now });
    display.show({
      type: 'estimate',
      seconds: {
        ...{ reading: 4, sampling: 8, learning: 15, step: 27 },
        ...{ episode: 0.2, unpractised: 0.4, imitating: 60, evaluating: 50, total: 650 },
      },
      memory: { needed: 2.6e9, free: 20e9 },
      evaluation: { tasks: 20, finalTasks: 64 },
    });
    const progress = { type: 'progress', phase: 'evaluate', moment: 'before', total: 64 } as const;
    display.show({ type: 'phase', phase: 'clone', steps: 16 });
    display.show({ ...progress, done: 0, tokens: 0 });
    now += 4000;
    display.show({ ...progress, done: 0, tokens: 2400 });
    const screen = () => screenOf(console.output()).join('\n');
    expect(screen()).toMatchInlineSnapshot(`
      "  a step takes about 27s: 4.0s reading, 8.0s sampling, 15s learning, imitation about 1m 00s, the run about 10m 50s
        about 2.6 GB of memory, of 20 GB free; evaluations play 64 tasks before and after, 20 along the way

        phase      evaluating before training, 22s left
        waits for  64 episodes, 0 done, 2.40k tokens at 600/s
      "
    `);
    now += 4000;
    display.show({ ...progress, done: 32, tokens: 4800 });
    expect(screen()).toContain('evaluating before training, 8.0s left');
    // The greedy half has a pace of its own.
    display.show({ ...progress, greedy: true, done: 0, tokens: 4800 });
    now += 1000;
    display.show({ ...progress, greedy: true, done: 16, tokens: 5000 });
    expect(screen()).toContain('evaluating before training, greedily, 3.0s left');
    const metrics = { 'clone/valid_share': 0.97, 'clone/success': 0.75, 'clone/checked_episodes': 32 };
    display.show({ type: 'clone', step: 12, steps: 16, metrics });
    expect(screen()).toContain('imitated 12 success 0.75 (0.58 to 0.87), 0.97 of turns valid (32 episodes)');
    display.show({ type: 'progress', phase: 'clone', done: 12, total: 16, waitingFor: 'gradient steps' });
    now += 1000;
    display.show({ type: 'progress', phase: 'clone', done: 12, total: 16, waitingFor: 'gradient steps' });
    expect(screen()).toContain('imitating');
    display.close();
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
      "reinforcing, 4 steps
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
