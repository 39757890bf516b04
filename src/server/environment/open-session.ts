/** A session that is open on an environment server, and the step that was last taken in it. */

import type { Session, StepResult } from '../../env/session.ts';
import type { WireView } from '../../env/wire.ts';

export interface StepOutcome extends StepResult {
  readonly step: number;
  readonly view: WireView;
}

/** An open session. `view` is what its client was last told. */
export interface OpenSession {
  readonly id: string;
  readonly session: Session;
  readonly leaseMs: number;
  readonly view: WireView;
  /** The number that the next step must have. */
  readonly nextStep: number;
}

/** What the table keeps of it. */
export interface Entry {
  readonly id: string;
  readonly session: Session;
  readonly leaseMs: number;
  /** Aborted when the session ends, so that a step under way stops. */
  readonly ending: AbortController;
  view: WireView;
  nextStep: number;
  /** Of the last step that was asked for: repeating it gives the same answer. */
  last:
    | { readonly step: number; readonly action: string; readonly outcome: Promise<StepOutcome> }
    | undefined;
  busy: number;
  deadline: number;
}

export async function closeQuietly(session: Session): Promise<void> {
  await session.close().catch(() => {});
}
