/** An episode turn by turn, for people. */

import type { Message } from '../core/messages.ts';
import { visible } from '../core/visible.ts';
import { type Console, painter, truncate, wrap } from './console.ts';
import { formatScore } from './format.ts';

export interface EpisodeTurn {
  /** What the agent read since its last turn. */
  readonly messages: readonly Message[];
  /** What it wrote. */
  readonly text: string;
  readonly reward: number;
  readonly valid: boolean;
  /** A drawing of the state it acted in. */
  readonly picture?: string;
}

/** What an episode needs to be shown; a stored rollout and a trajectory both fit. */
export interface Episode {
  readonly turns: readonly EpisodeTurn[];
  readonly outcome: number;
  /** Left out where several roles play: what one wins another loses. */
  readonly success?: boolean;
  readonly stop: string;
  /** What is read at the end. */
  readonly closing?: readonly Message[];
}

export interface EpisodeTextOptions extends Pick<Console, 'columns' | 'colour'> {
  /** Lines that one message may take. */
  readonly linesPerMessage: number;
  /** Turns shown: where there are more, the ones in the middle are left out. */
  readonly turns: number;
}

/** Lines of the episode, ending with how it ended. */
export function episodeText(episode: Episode, options: EpisodeTextOptions): string[] {
  const { turns } = episode;
  const head = Math.ceil(options.turns / 2);
  const tail = Math.floor(options.turns / 2);
  const cut = turns.length - head - tail;
  const paint = painter(options.colour);
  const spaced = turns.some((turn) => turn.picture?.includes('\n'));
  const lines = turns.flatMap((turn, index) => {
    if (cut > 0 && index === head) return [paint('dim', `     … ${cut} more turn${cut === 1 ? '' : 's'} …`)];
    if (cut > 0 && index > head && index < turns.length - tail) return [];
    return [...(spaced && index > 0 ? [''] : []), ...turnText(turn, index + 1, options)];
  });
  const closing = (episode.closing ?? []).flatMap((message) =>
    messageLines(message, options.columns - 5, options.linesPerMessage),
  );
  const last = indent(
    closing.map((line) => paint('dim', line)),
    '     ',
  );
  return [...lines, ...last, verdict(episode, options.colour)];
}

/** Lines of one turn: what was read, what was written, what it earned. */
export function turnText(turn: EpisodeTurn, number: number, options: EpisodeTextOptions): string[] {
  const paint = painter(options.colour);
  const width = options.columns - 5;
  const picture = turn.picture?.trim() ? visible(turn.picture).split('\n') : [];
  const read = turn.messages.flatMap((message) => messageLines(message, width, options.linesPerMessage));
  const wrote = wrap(visible(turn.text.trim()) || '(nothing)', width - 2).slice(0, options.linesPerMessage);
  const notes = [
    ...(turn.valid ? [] : [paint('red', 'invalid')]),
    ...(turn.reward === 0 ? [] : [paint(turn.reward > 0 ? 'green' : 'yellow', signed(turn.reward))]),
  ].join(' ');
  const body = [
    ...picture,
    ...read.map((line) => paint('dim', line)),
    ...wrote.map((line, index) => {
      const mark = index === 0 ? paint('cyan', '› ') : '  ';
      return `${mark}${paint('bold', line)}${index === wrote.length - 1 && notes ? `   ${notes}` : ''}`;
    }),
  ];
  return indent(body, '     ', paint('dim', `${String(number).padStart(3)}  `));
}

/** Lines of a message, the first with its role unless a user wrote it. */
export function messageLines(message: Message, width: number, limit: number): string[] {
  const label = message.role === 'user' ? '' : `${message.role}: `;
  const lines = wrap(visible(`${label}${message.content.trimEnd()}`), width);
  if (lines.length <= limit) return lines;
  return [...lines.slice(0, limit - 1), truncate(`${lines[limit - 1]!} …`, width)];
}

function verdict({ success, outcome, stop, turns }: Episode, colour: boolean): string {
  const paint = painter(colour);
  const mark =
    success === undefined ? 'over' : success ? paint('green', '✓ solved') : paint('red', '✗ not solved');
  const count = `${turns.length} turn${turns.length === 1 ? '' : 's'}`;
  const reason = stop === 'done' ? '' : `, ${stop}`;
  return `     ${mark}${paint('dim', `  ${count}, return ${formatScore(outcome)}${reason}`)}`;
}

function signed(value: number): string {
  return `${value > 0 ? '+' : '−'}${Math.abs(Number(value.toFixed(3)))}`;
}

function indent(lines: readonly string[], spaces: string, first = spaces): string[] {
  return lines.map((line, index) => `${index === 0 ? first : spaces}${line}`);
}
