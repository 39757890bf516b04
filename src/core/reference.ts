/** What a name written by a person refers to, by its form alone: an address, a file, or something built in. */

/** Whether a name is meant as an address rather than as the name of something built in. */
export function isAddress(name: string): boolean {
  // A single letter is a drive of Windows.
  return /^[\w-]{2,}:/.test(name);
}

/** Whether a name means a file, with or without the `#name` of an export. */
export function isPath(name: string): boolean {
  return !isAddress(name) && (/[/\\]/.test(name) || /\.[cm]?[jt]sx?(#[^#]*)?$/.test(name));
}
