/** The raw protocol: the whole completion, trimmed, is the action. */

import type { ActionProtocol } from './protocol.ts';

export const rawProtocol: ActionProtocol = {
  name: 'raw',
  parse: (text) => ({ ok: true, action: text.trim() }),
  format: (action) => action,
};
