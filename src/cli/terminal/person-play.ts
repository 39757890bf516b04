/** A person plays an episode at the terminal. */

import { createInterface } from 'node:readline';
import type { Json } from '../../core/json/json.ts';
import { Rng } from '../../core/rng.ts';
import { visible } from '../../core/visible.ts';
import { partOf } from '../../env/mix/part.ts';
import type { Role } from '../../env/session.ts';
import type { World } from '../../env/world.ts';
import { type Console, painter } from '../../show/console.ts';
import { formatScore } from '../../show/format.ts';
import { stateText } from './live-episode.ts';

/** Asks for a line; undefined when there are no more. */
export type Ask = (prompt: string) => Promise<string | undefined>;

/** Lines of standard input. */
export function askInput(signal: AbortSignal): { ask: Ask; close(): void } {
  const reader = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: process.stdin.isTTY === true,
  });
  const lines = reader[Symbol.asyncIterator]();
  const aborted = new Promise<undefined>((resolve) =>
    signal.addEventListener('abort', () => resolve(undefined), { once: true }),
  );
  return {
    async ask(prompt) {
      reader.setPrompt(prompt);
      reader.prompt();
      const next = await Promise.race([lines.next(), aborted]);
      return next === undefined || next.done ? undefined : next.value;
    },
    close: () => reader.close(),
  };
}

/** A line that is not empty: a slip of the finger is no turn. */
async function askForSomething(ask: Ask, prompt: string): Promise<string | undefined> {
  for (;;) {
    const answer = await ask(prompt);
    if (answer === undefined || answer.trim() !== '') return answer;
  }
}

const mostListed = 12;

function listOf(actions: readonly string[]): string {
  const more = actions.length - mostListed;
  return `${actions.slice(0, mostListed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * Play one episode: every role is the person. `?` lets the expert move. Ends early when there is no more input.
 *
 * @returns whether the episode came to its end
 */
export async function playAsPerson(
  world: World,
  task: Json,
  seed: number,
  ask: Ask,
  console: Console,
  signal: AbortSignal,
): Promise<boolean> {
  const paint = painter(console.colour);
  const session = await world.open(task, Rng.of('play', seed));
  const { protocol, maxTurns } = partOf(world, session);
  const used = new Map<Role, number>();
  const earned = new Map<Role, number>();
  let succeeded = false;
  try {
    for (let role = session.toMove(); role !== undefined; role = session.toMove()) {
      const turn = (used.get(role) ?? 0) + 1;
      if (turn > maxTurns) break;
      used.set(role, turn);
      const label = `${world.roles.length > 1 ? `${role}, ` : ''}turn ${turn} of ${maxTurns}`;
      console.write(stateText(label, session.render?.(), session.observe(role), console));
      const known = session.actions?.();
      if (known !== undefined && known.length > 0)
        console.write(`  ${paint('dim', `possible: ${visible(listOf(known))}`)}\n`);
      const answer = await askForSomething(ask, `  ${paint('cyan', '›')} `);
      if (answer === undefined) return false;
      const hint =
        answer.trim() === '?' ? await world.script?.(session, 'expert', Rng.of('hint', turn)) : undefined;
      if (hint !== undefined) console.write(`  ${paint('dim', 'the expert plays')} ${hint}\n`);
      const parsed = hint === undefined ? protocol.parse(answer) : { ok: true as const, action: hint };
      if (!parsed.ok) console.write(`  ${paint('red', 'not an action:')} ${parsed.problem}\n`);
      const result = await session.step(parsed.ok ? parsed.action : answer, signal);
      if (parsed.ok && !result.valid) console.write(`  ${paint('red', 'not accepted here')}\n`);
      for (const [who, reward] of Object.entries(result.rewards)) {
        earned.set(who, (earned.get(who) ?? 0) + reward);
        if (reward !== 0)
          console.write(
            `  ${paint(reward > 0 ? 'green' : 'yellow', `reward ${reward}`)}${world.roles.length > 1 ? ` for ${who}` : ''}\n`,
          );
      }
      succeeded = Object.values(result.success).some(Boolean);
    }
    const closing = session.observe(world.roles[0]!);
    console.write(stateText('the end', session.render?.(), closing, console));
    const returns = world.roles.map((role) => {
      const name = world.roles.length > 1 ? `${role} ` : '';
      return `${name}${formatScore(earned.get(role) ?? 0)}`;
    });
    const mark =
      world.roles.length > 1
        ? ''
        : succeeded
          ? `${paint('green', '✓ solved')}, `
          : `${paint('red', '✗ not solved')}, `;
    console.write(`  ${mark}return ${returns.join(', ')}\n`);
    return true;
  } finally {
    await session.close();
  }
}
