/** Names of methods and shapings: case and hyphens do not matter, and some have several. */

export function isNameOf(
  wanted: string,
  { name, aliases = [] }: { readonly name: string; readonly aliases?: readonly string[] },
): boolean {
  return [name, ...aliases].some((own) => plain(own) === plain(wanted));
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '');
}
