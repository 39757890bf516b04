/**
 * Text that a model, a tool or a file wrote, so that a reader sees what is there: characters that steer, hide or turn are
 * named in boxes. The page only ever makes text nodes of it.
 */

const names: Readonly<Record<number, string>> = {
  0: 'NUL',
  7: 'BEL',
  8: 'BS',
  13: 'CR',
  27: 'ESC',
  127: 'DEL',
  8203: 'ZWSP',
  8204: 'ZWNJ',
  8205: 'ZWJ',
  8206: 'LRM',
  8207: 'RLM',
  8232: 'LS',
  8233: 'PS',
  8234: 'LRE',
  8235: 'RLE',
  8236: 'PDF',
  8237: 'LRO',
  8238: 'RLO',
  8294: 'LRI',
  8295: 'RLI',
  8296: 'FSI',
  8297: 'PDI',
  65279: 'BOM',
};

const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what it looks for.
  /\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export function safeText(text: string): string {
  return text.replace(hidden, (character) => {
    const code = character.charCodeAt(0);
    return `⟦${names[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`}⟧`;
  });
}

/** In one line, for titles and cells. */
export function oneLine(text: string, limit = 160): string {
  const line = safeText(text.slice(0, 4 * limit))
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > limit ? `${line.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…` : line;
}
