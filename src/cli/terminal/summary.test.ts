import { describe, expect, it } from 'vitest';
import { displayWidth } from '../../show/console.ts';
import { curveSvg } from '../../show/curve-svg.ts';
import { runHistory } from '../../show/run-history.ts';
import type { StoredEvent } from '../../train/loop/events.ts';
import {
  evaluation,
  exampleEvents,
  failedEpisode,
  solvedEpisode,
  timed,
} from '../example-run.test-helper.ts';
import { summaryText } from './summary.ts';

const screen = { columns: 80, colour: false };

describe('summaryText', () => {
  it('says the time of a run that was continued as what it is', () => {
    const events = exampleEvents();
    const place = events.findIndex(({ type }) => type === 'step') + 1;
    const resumed: StoredEvent = { type: 'resume', step: 1 };
    const history = runHistory(timed([...events.slice(0, place), resumed, ...events.slice(place)]));
    const text = summaryText({ run: 'lake', root: 'runs', history }, { columns: 200, colour: false });
    expect(text).toMatch(/ {2}time {8}2m 43s since step 1 \(.*\); acting and learning [\dms. ]+ in all\n/);
  });

  it('says nothing of greedy play where there was none', () => {
    const sampledAlone = exampleEvents().map((event) => {
      if (event.type !== 'evaluation') return event;
      const { greedy: _, ...rest } = event;
      return rest;
    });
    const history = runHistory(timed(sampledAlone));
    const text = summaryText({ run: 'lake', root: 'runs', history }, { columns: 200, colour: false });
    expect(text).toContain('sampled, after');
    expect(text).not.toContain('greedy');
    const curve = { title: 'lake', subtitle: '', tasks: 'held-out tasks', points: history.evaluations };
    expect(curveSvg(curve)).not.toContain('greedy');
  });

  it('says what was learned, and shows it', () => {
    const text = summaryText(
      {
        run: 'frozen-lake-rloo-1',
        root: 'runs',
        history: runHistory(timed(exampleEvents())),
        curvePath: 'runs/frozen-lake-rloo-1/curve.svg',
        examples: { before: failedEpisode, after: solvedEpisode },
      },
      screen,
    );
    expect(text).toMatchInlineSnapshot(`
      "frozen-lake-rloo-1  frozen-lake · rloo · seed 1
      The agent learned: success 0.42 → 0.94 on tasks it never trained on.

      Held-out tasks
                         success (95% interval)  return (95% interval)  turns
        sampled, before  0.42 (0.38 to 0.45)     0.42 (0.37 to 0.47)      5.3
        sampled, after   0.94 (0.90 to 0.97)     0.94 (0.89 to 0.99)      5.3
        greedy, before   0.72 (0.68 to 0.75)     0.72 (0.67 to 0.77)      5.3
        greedy, after    0.96 (0.92 to 0.99)     0.96 (0.91 to 1.01)      5.3

      Learning curve
        1.0 ┤                                   ○                                  ○
            │                                                       ⢀⣀⣀⣀⣀⠤⠤⠤⠤⠒⠒⠒⠒⠊⠉●
        0.8 ┤                                      ⣀⣀⣀⣀⡠⠤⠤⠤⠔⠒⠒⠒⠒⠉⠉⠉⠉⠁
            │○                         ⣀⣀⣀⠤⠤⠔⠒⠒⠊●⠉⠉
        0.6 ┤               ⢀⣀⣀⠤⠤⠔⠒⠒⠊⠉⠉
            │    ⢀⣀⣀⠤⠤⠤⠒⠒⠊⠉⠉⠁
        0.4 ┤●⠊⠉⠉⠁
            │
        0.2 ┤
            │
        0.0 ┤
            └───────────────────────────────────────────────────────────────────────
             0                                                                step 4
             ● success, sampled at temperature 1   ○ greedy
        as a picture: runs/frozen-lake-rloo-1/curve.svg

      Spent
        time        2m 43s (cloning 6.2s, acting 1m 01s, learning 1m 22s, evaluating
                    12s)
        experience  1.02k episodes, 5.40k turns in 4 steps
        tokens      4.80k sampled, 36.0k processed to act, 16.0k to learn
        model       498k parameters, 62 words, from scratch

      One episode before
        1  rows+1 cols+0 left:free down:hole
           › down
           ✗ not solved  1 turn, return 0.00

      The same task after
        1  rows+1 cols+0 left:free down:hole
           › jump   invalid −0.1
        2  invalid rows+1 cols+0 left:free down:hole
           › left
        3  rows+1 cols+1 right:free down:free
           › down   +1
           ✓ solved  3 turns, return 0.90

      Warnings
        nothing-learned: step 1: no update was made

      Next
        npx turnwise play frozen-lake --run frozen-lake-rloo-1  watch the agent
        npx turnwise eval frozen-lake-rloo-1 --tasks 1000       measure it better
        npx turnwise train frozen-lake --recipe grpo            another method
        npx turnwise runs compare frozen-lake-rloo-1 OTHER      compare two runs
      "
    `);
    expect(Math.max(...text.split('\n').map(displayWidth))).toBeLessThanOrEqual(80);
  });

  it('says where no step learned anything, whatever the evaluations say', () => {
    const events = exampleEvents().map((event) =>
      event.type === 'step' ? { ...event, metrics: { ...event.metrics, 'tokens/trained': 0 } } : event,
    );
    const [, line] = summaryText(
      { run: 'frozen-lake-rloo-1', root: 'runs', history: runHistory(timed(events)) },
      screen,
    ).split('\n');
    expect(line).toBe(
      'No step learned anything: success 0.42 → 0.94 on tasks it never trained on. The warnings say why.',
    );
  });

  it('of an unfinished run says how to go on, in its own folder', () => {
    const text = summaryText(
      { run: 'first', root: 'elsewhere', history: runHistory(timed(exampleEvents(false))) },
      screen,
    );
    expect(text).toContain('Not finished: 2 steps so far.');
    expect(text).toContain('turnwise resume first --runs elsewhere');
    expect(text).toContain('2.40k sampled, 18.0k processed to act, 8.00k to learn');
  });

  it('claims no learning that the intervals do not show', () => {
    const events = exampleEvents().map((event) =>
      event.type === 'evaluation' && event.label === 'after'
        ? { ...event, sampled: evaluation(0.44) }
        : event,
    );
    const text = summaryText({ run: 'first', root: 'runs', history: runHistory(timed(events)) }, screen);
    expect(text).toContain('Done: success 0.42 → 0.44 on tasks it never trained on, no clear change.');
  });

  it('of self-play is about exploitability', () => {
    const events = exampleEvents().map((event) =>
      event.type === 'step'
        ? {
            ...event,
            metrics: {
              'game/exploitability_average': 0.5 - event.step / 10,
              'game/exploitability_last': 0.2,
            },
          }
        : event,
    );
    const text = summaryText({ run: 'first', root: 'runs', history: runHistory(timed(events)) }, screen);
    expect(text).toContain('exploitability 0.400 → 0.100 (average policy; the last one alone 0.200)');
    expect(text).toContain('● exploitability of the average policy');
  });

  it('survives a run that has not begun', () => {
    expect(summaryText({ run: 'first', root: 'runs', history: runHistory([]) }, screen)).toContain(
      'Not finished',
    );
  });
});

describe('curveSvg', () => {
  const points = [0.42, 0.75, 0.94].map((success, index) => ({
    step: index * 10,
    sampled: evaluation(success),
    greedy: evaluation(0.96),
  }));

  /** Throws where tags do not match: enough of an XML parser for what is written here. */
  function checkWellFormed(svg: string): number {
    const open: string[] = [];
    let tags = 0;
    const withoutText = svg.replace(/<style>[^<]*<\/style>/, '');
    for (const [, closing, name, rest] of withoutText.matchAll(
      /<(\/?)([a-z]+)((?:\s+[a-zA-Z0-9-]+="[^"<]*")*\s*\/?)>/g,
    )) {
      tags++;
      if (closing) expect(open.pop()).toBe(name);
      else if (!rest!.endsWith('/')) open.push(name!);
    }
    expect(open).toEqual([]);
    expect(withoutText.split('<').length - 1).toBe(tags);
    expect(withoutText.replaceAll(/&(amp|lt|gt|quot);/g, '')).not.toContain('&');
    return tags;
  }

  it('is well-formed, whatever the names', () => {
    const svg = curveSvg({ title: 'a < b & "c"', subtitle: '<script>', tasks: 'held-out tasks', points });
    expect(checkWellFormed(svg)).toBeGreaterThan(30);
    expect(svg).toContain('a &lt; b &amp; &quot;c&quot;');
    expect(svg).not.toContain('<script>');
    expect(svg).not.toContain('NaN');
    expect(svg).toContain('success on held-out tasks 0.42 at the warm start, 0.94 (0.90 to 0.97) at the end');
  });

  it('adds a panel where return says more than success', () => {
    const mazes = points.map((point) => ({ ...point, sampled: evaluation(0.9, -20 + point.step) }));
    expect(curveSvg({ title: 'maze', subtitle: '', tasks: 'held-out tasks', points })).not.toContain(
      'Return on held-out tasks',
    );
    const svg = curveSvg({ title: 'maze', subtitle: '', tasks: 'held-out tasks', points: mazes });
    checkWellFormed(svg);
    expect(svg).toContain('Return on held-out tasks');
    expect(svg).toContain('−20');
  });

  it('shows exploitability instead in self-play', () => {
    const game = [0.45, 0.3, 0.12].map((average, step) => ({ step: step + 1, average, last: average + 0.1 }));
    const svg = curveSvg({ title: 'kuhn-poker', subtitle: '', tasks: 'held-out tasks', points, game });
    checkWellFormed(svg);
    expect(svg).toContain('average 0.12');
    expect(svg).not.toContain('Success');
  });

  it('is drawn with one point, and with none', () => {
    checkWellFormed(
      curveSvg({ title: 'new', subtitle: '', tasks: 'held-out tasks', points: points.slice(0, 1) }),
    );
    checkWellFormed(curveSvg({ title: 'new', subtitle: '', tasks: 'held-out tasks', points: [] }));
  });
});

describe('what was practised is not called held out', () => {
  const shown = (testTasks: string | undefined): string => {
    const events = exampleEvents().map((event) =>
      event.type === 'start' ? ({ ...event, testTasks } as StoredEvent) : event,
    );
    const history = runHistory(
      events.map((event) => ({ ...event, time: '2026-01-01T00:00:00.000Z' })) as never,
    );
    return summaryText({ run: 'r', history, root: 'runs' }, { columns: 80, colour: false });
  };
  it.each([
    ['held-out', 'on tasks it never trained on.', 'Held-out tasks'],
    ['practised', 'on all tasks, which it also practised.', 'All tasks (also practised)'],
    ['partly', 'on test tasks, some of which it also practised.', 'Test tasks (some also practised)'],
    [undefined, 'on its test tasks.', 'Test tasks'],
  ])('%s', (kind, sentence, title) => {
    const text = shown(kind);
    expect(text).toContain(`success 0.42 → 0.94 ${sentence}`);
    expect(text.split('\n')).toContain(title);
    if (kind !== 'held-out') expect(text).not.toMatch(/held.out|never trained/i);
  });
});
