/** What a recorded conversation with a server consists of: one JSON object a line, after a line that says where it is from. */

export type Exchange =
  | {
      readonly method: string;
      readonly path: string;
      readonly cookie?: string;
      readonly body?: unknown;
      readonly status: number;
      readonly setCookies?: readonly string[];
      /** As text, whatever it is. */
      readonly answer: string;
    }
  /** A message of the client over a WebSocket. */
  | { readonly sent: unknown }
  /** A message of the server over a WebSocket. */
  | { readonly received: unknown };
