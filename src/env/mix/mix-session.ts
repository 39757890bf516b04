/** An episode of a world of worlds: the session of one of them, which says which. */

import type { Message } from '../../core/messages.ts';
import type { Role, Session, Snapshot, StepResult } from '../session.ts';
import type { World } from '../world.ts';
import type { WorldPart } from './part.ts';

export class MixSession implements Session {
  readonly inner: Session;
  readonly world: World;
  readonly roles: readonly Role[];
  readonly part: WorldPart;
  readonly snapshot?: () => Promise<Snapshot>;
  readonly actions?: () => readonly string[] | undefined;
  readonly notes?: (role: Role) => string | undefined;
  readonly slots?: (role: Role) => Readonly<Record<string, string>> | undefined;
  readonly render?: () => string;

  /** @param snapshots whether all worlds of the mix have them, and so the mix */
  constructor(inner: Session, world: World, name: string, snapshots: boolean) {
    this.inner = inner;
    this.world = world;
    this.roles = inner.roles;
    const { protocol, maxTurns } = inner.part ?? world;
    this.part = { name: inner.part ? `${name}/${inner.part.name}` : name, protocol, maxTurns };
    if (inner.actions) this.actions = () => inner.actions!();
    if (inner.notes) this.notes = (role) => inner.notes!(role);
    if (inner.slots) this.slots = (role) => inner.slots!(role);
    if (inner.render) this.render = () => inner.render!();
    if (!snapshots) return;
    this.snapshot = async () => {
      const held = await inner.snapshot!();
      return {
        cost: held.cost,
        open: async (options) => new MixSession(await held.open(options), world, name, snapshots),
        ...(held.toJson && { toJson: () => ({ environment: name, held: held.toJson!() }) }),
        dispose: () => held.dispose(),
      };
    };
  }

  toMove(): Role | undefined {
    return this.inner.toMove();
  }

  observe(role: Role): readonly Message[] {
    return this.inner.observe(role);
  }

  /** Equal states of two worlds are two. */
  anchor(role: Role): string {
    return `${this.part.name} ${this.inner.anchor(role)}`;
  }

  async step(action: string, signal: AbortSignal): Promise<StepResult> {
    const result = await this.inner.step(action, signal);
    const { metrics } = result;
    if (typeof metrics !== 'object' || metrics === null) return result;
    const own = Object.entries(metrics).map(([name, figure]) => [`${this.part.name}/${name}`, figure]);
    return { ...result, metrics: Object.fromEntries(own) };
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
