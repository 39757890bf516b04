/**
 * Tokens that are encoded, copied, compared or handed over to build the prompts of one conversation, and items of lists that
 * are written or copied: linear in its turns.
 */

import { handled } from '../src/model/chat/token-runs.ts';

export interface PromptTokens {
  readonly turns: number;
  readonly tokens: number;
  readonly tokensPerTurn: number;
  readonly itemsPerTurn: number;
}

/** Conversations with ever twice the turns. */
const TURNS = [100, 200, 400, 800];
/** How much more than twice as many twice the turns may take. */
const TOLERANCE = 0.1;

/**
 * Fails the process where tokens or items grow faster than turns.
 *
 * @param play one conversation; gives the tokens that its policy was handed
 */
export async function benchPromptTokens(play: (turns: number) => Promise<number>): Promise<PromptTokens[]> {
  const figures: PromptTokens[] = [];
  for (const turns of TURNS) {
    const before = { ...handled };
    const given = await play(turns);
    const tokens = handled.tokens - before.tokens + given;
    const itemsPerTurn = (handled.items - before.items) / turns;
    figures.push({ turns, tokens, tokensPerTurn: tokens / turns, itemsPerTurn });
  }
  for (const [index, { turns, tokensPerTurn, itemsPerTurn }] of figures.entries()) {
    const half = figures[index - 1];
    if (half === undefined) continue;
    const faster = [
      ...(tokensPerTurn > (1 + TOLERANCE) * half.tokensPerTurn ? [`${tokensPerTurn} tokens`] : []),
      ...(itemsPerTurn > (1 + TOLERANCE) * half.itemsPerTurn ? [`${itemsPerTurn} items`] : []),
    ];
    if (faster.length === 0) continue;
    process.exitCode = 1;
    process.stderr.write(
      `${turns} turns: ${faster.join(' and ')} a turn, more than in ${half.turns} turns\n`,
    );
  }
  return figures;
}
