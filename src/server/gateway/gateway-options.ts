/** What a gateway is made with: where it listens, who may call, and how much. */

import type { SessionOptions } from './session/session-options.ts';
import type { SessionRecord } from './session/session-record.ts';

export interface GatewayLimits {
  readonly bodyBytes: number;
  /** Sessions open at once. */
  readonly sessions: number;
  /** Calls of one session. */
  readonly callsPerSecond: number;
  readonly callBurst: number;
  /** Longest that one call may take, waiting included. */
  readonly callTimeoutMs: number;
  /** A stream whose answer takes longer begins with comments, one each time: clients give up on what stays silent. */
  readonly silenceMs: number;
  /** A session made over HTTP ends when nothing was asked of it for so long. */
  readonly leaseMs: number;
}

export const defaultLimits: GatewayLimits = {
  bodyBytes: 4 * 2 ** 20,
  sessions: 4096,
  callsPerSecond: 200,
  callBurst: 400,
  callTimeoutMs: 600_000,
  silenceMs: 15_000,
  leaseMs: 600_000,
};

export interface GatewayOptions {
  /** Default: loopback only. */
  readonly host?: string;
  /** Default: any free one. */
  readonly port?: number;
  /** For /sessions. Default: a random one. */
  readonly key?: string;
  /** Names by which clients reach it, beside those of this machine. */
  readonly allowHosts?: readonly string[];
  /** What sessions made over HTTP talk to; without it there are none. */
  readonly newSession?: () => SessionOptions;
  readonly limits?: Partial<GatewayLimits>;
  /** A session made over HTTP has ended. */
  readonly onEnd?: (record: SessionRecord) => void;
  /** A parameter changed nothing, for the first time. */
  readonly onIgnored?: (key: string) => void;
}
