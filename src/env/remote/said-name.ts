/** The name of a remote world: what its server says it is, whatever its address, since chance is keyed by names. */

const LONGEST = 100;

/** @param otherwise where the server says nothing that can be a name */
export function saidName(said: unknown, otherwise: string): string {
  if (typeof said !== 'string') return otherwise;
  const name = said.replace(/\p{C}/gu, '').trim().slice(0, LONGEST);
  return name === '' ? otherwise : name;
}
