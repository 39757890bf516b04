/** Command lines that a person can copy. */

/** Words joined by spaces, quoted where a shell would read them otherwise. */
export function commandLine(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

/** The word as a shell reads it back. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
