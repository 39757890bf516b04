/** Messages that differ only in ids and numbers, told as one: what is left after them names the kind. */

const ID =
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b|\b(?:0x|[a-z]{1,4}[-_])?[0-9a-f]{8,}\b|\b0x[0-9a-f]+\b|\b(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{6,}|\d+(?:[./:]\d+)*/gi;

/** The message with each id and number as `#`. */
export function withoutIds(message: string): string {
  return message.replace(ID, '#');
}
