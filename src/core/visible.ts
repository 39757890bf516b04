/**
 * Text that somebody else wrote, made safe to print: what would steer a terminal or turn the reading order is shown as a
 * character that can be seen. Models, environments, servers and files may write anything.
 *
 *   C0 controls and DEL   their control pictures: ESC is ␛, BEL is ␇
 *   C1 controls, marks of direction, line and paragraph separators   \u009b, as JSON escapes them
 *
 * Line breaks and tabs stay. JSON in which this changes something still means the same.
 */

const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what it looks for.
  /\r\n|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A style of text as `styleText` writes it, such as bold or red; nothing that moves the cursor or hides what follows. */
export const STYLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins each.
  /(\u001b\[(?:[1-4]|2[234]|3[0-79]|9[0-7])m)/;

/** The text with everything shown that is not. */
export function visible(text: string): string {
  return text.replace(UNSAFE, (found) => {
    if (found === '\r\n') return '\n';
    const code = found.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** The same for text that we have styled ourselves. */
export function visibleStyled(text: string): string {
  return text
    .split(STYLE)
    .map((part, index) => (index % 2 === 1 ? part : visible(part)))
    .join('');
}
