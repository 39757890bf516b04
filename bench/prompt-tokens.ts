/** Tokens that are encoded, copied, compared or handed over to build the prompts of one conversation: linear in its turns. */

import { handled } from '../src/model/chat/token-runs.ts';

export interface PromptTokens {
  readonly turns: number;
  readonly tokens: number;
  readonly tokensPerTurn: number;
}

/** Conversations with ever twice the turns. */
const TURNS = [100, 200, 400, 800];
/** How much more than twice as many tokens twice the turns may take. */
const TOLERANCE = 0.1;

/**
 * Fails the process where tokens grow faster than turns.
 *
 * @param play one conversation; gives the tokens that its policy was handed
 */
export async function benchPromptTokens(play: (turns: number) => Promise<number>): Promise<PromptTokens[]> {
  const figures: PromptTokens[] = [];
  for (const turns of TURNS) {
    const before = handled.tokens;
    const given = await play(turns);
    const tokens = handled.tokens - before + given;
    figures.push({ turns, tokens, tokensPerTurn: tokens / turns });
  }
  for (const [index, { turns, tokens }] of figures.entries()) {
    const half = figures[index - 1];
    if (half === undefined || tokens <= 2 * (1 + TOLERANCE) * half.tokens) continue;
    process.exitCode = 1;
    process.stderr.write(
      `${turns} turns: ${tokens} tokens handled, more than twice those of ${half.turns} turns\n`,
    );
  }
  return figures;
}
