/** Server-sent events as text. */

export interface ServerEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: string;
}

/** The events in what has arrived, and what is left of an unfinished one. */
export function splitEvents(text: string): { readonly events: ServerEvent[]; readonly rest: string } {
  const blocks = text.split('\n\n');
  const rest = blocks.pop() ?? '';
  const events = blocks.flatMap((block): ServerEvent[] => {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const [, name, value = ''] = /^([a-z]+): ?(.*)$/s.exec(line) ?? [];
      if (name === undefined) continue;
      const before = fields.get(name);
      fields.set(name, before === undefined ? value : `${before}\n${value}`);
    }
    const data = fields.get('data');
    const id = fields.get('id');
    return data === undefined
      ? []
      : [{ event: fields.get('event') ?? 'message', data, ...(id !== undefined && { id }) }];
  });
  return { events, rest };
}
