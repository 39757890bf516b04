/** SentencePiece's scores as the merges of BPE. */

/**
 * Each token as the merges of any two tokens into it: the better the score of the whole the earlier, and among equal scores
 * by the ids of the token and its left and right part.
 */
export function sentencePieceMerges(
  tokens: readonly string[],
  vocabulary: Readonly<Record<string, number>>,
  scores: ArrayLike<number>,
): [string, string][] {
  const merges: { readonly pair: [string, string]; readonly score: number }[] = [];
  for (const [id, token] of tokens.entries()) {
    const splits: { readonly pair: [string, string]; readonly left: number; readonly right: number }[] = [];
    const characters = Array.from(token);
    for (let cut = 1; cut < characters.length; cut++) {
      const pair: [string, string] = [characters.slice(0, cut).join(''), characters.slice(cut).join('')];
      const [left, right] = [vocabulary[pair[0]], vocabulary[pair[1]]];
      if (left !== undefined && right !== undefined) splits.push({ pair, left, right });
    }
    splits.sort((a, b) => a.left - b.left || a.right - b.right);
    for (const { pair } of splits) merges.push({ pair, score: scores[id]! });
  }
  return merges.sort((a, b) => b.score - a.score).map(({ pair }) => pair);
}
