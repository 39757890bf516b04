/** What an environment server counts, and the same as text that Prometheus reads. */

/** Upper bounds of the histogram of step times, in seconds. */
const BOUNDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1, 5, 30] as const;

export interface ServerFigures {
  opened: number;
  closed: number;
  /** Closed because their lease ended. */
  reclaimed: number;
  /** Openings that were refused for want of room. */
  refused: number;
  /** Steps in which the environment failed or took too long. */
  failed: number;
  observeStep(seconds: number): void;
  /** The Prometheus text format, version 0.0.4. */
  text(openSessions: number, snapshots: number, maxSessions: number, environment: string): string;
}

export function serverFigures(): ServerFigures {
  const buckets = new Array<number>(BOUNDS.length + 1).fill(0);
  let seconds = 0;
  return {
    opened: 0,
    closed: 0,
    reclaimed: 0,
    refused: 0,
    failed: 0,
    observeStep(duration) {
      const index = BOUNDS.findIndex((bound) => duration <= bound);
      buckets[index < 0 ? BOUNDS.length : index]! += 1;
      seconds += duration;
    },
    text(openSessions, snapshots, maxSessions, environment) {
      const label = `{environment="${environment.replaceAll(/["\\\n]/g, '_')}"}`;
      const metric = (name: string, kind: string, help: string, value: number): string[] => [
        `# HELP turnwise_env_${name} ${help}`,
        `# TYPE turnwise_env_${name} ${kind}`,
        `turnwise_env_${name}${label} ${value}`,
      ];
      let steps = 0;
      const histogram = buckets.map((count, index) => {
        steps += count;
        const bound = BOUNDS[index] ?? '+Inf';
        return `turnwise_env_step_seconds_bucket${label.slice(0, -1)},le="${bound}"} ${steps}`;
      });
      return [
        ...metric('sessions_open', 'gauge', 'Sessions that are open now.', openSessions),
        ...metric('snapshots_held', 'gauge', 'Snapshots that clients hold.', snapshots),
        ...metric('sessions_limit', 'gauge', 'Sessions that may be open at once.', maxSessions),
        ...metric(
          'sessions_opened_total',
          'counter',
          'Sessions opened, those from snapshots included.',
          this.opened,
        ),
        ...metric('sessions_closed_total', 'counter', 'Sessions that clients closed.', this.closed),
        ...metric(
          'sessions_reclaimed_total',
          'counter',
          'Sessions and snapshots whose lease ended.',
          this.reclaimed,
        ),
        ...metric('sessions_refused_total', 'counter', 'Openings refused for want of room.', this.refused),
        ...metric(
          'steps_failed_total',
          'counter',
          'Steps that raised an error or took too long.',
          this.failed,
        ),
        '# HELP turnwise_env_step_seconds Time of a step in the environment.',
        '# TYPE turnwise_env_step_seconds histogram',
        ...histogram,
        `turnwise_env_step_seconds_sum${label} ${seconds}`,
        `turnwise_env_step_seconds_count${label} ${steps}`,
        '',
      ].join('\n');
    },
  };
}
