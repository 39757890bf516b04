/** Instructions as proposers write them. */

/** The instruction in an answer: what stands in a block, or all of it; undefined where that is nothing, or too long. */
export function instructionIn(answer: string | undefined, longest: number): string | undefined {
  if (answer === undefined) return undefined;
  const block =
    /```[^\n]*\n([\s\S]*?)```/.exec(answer)?.[1] ??
    /<instruction>([\s\S]*?)<\/instruction>/.exec(answer)?.[1];
  const text = (block ?? answer).trim();
  return text === '' || text.length > longest ? undefined : text;
}
