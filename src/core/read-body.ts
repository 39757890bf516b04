/** The body of an answer, up to a length: who sends more is cut off, rather than kept in memory until it ends. */

/** The bytes; undefined where there are more than `mostBytes`, in which case the connection is given up. */
export async function readBody(
  { body }: Pick<Response, 'body'>,
  mostBytes: number,
): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return parts.length === 1 ? parts[0]! : Buffer.concat(parts, length);
    length += value.byteLength;
    if (length > mostBytes) {
      await reader?.cancel().catch(() => undefined);
      return undefined;
    }
    parts.push(value);
  }
}
