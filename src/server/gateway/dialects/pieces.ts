/** A finished text in the pieces in which it is streamed. */

/** Words with the space before them, as models stream them. */
export const pieces = (text: string): string[] => text.match(/\s*\S+|\s+$/g) ?? [];
