/** Metrics and episodes to a collector of OpenTelemetry. */

import { version } from '../../version.ts';
import { measuredIn } from '../measured.ts';
import type { Sink } from '../sink.ts';
import { gaugesOf } from './gauges.ts';
import { metricsRequest, type Origin, traceRequest } from './messages.ts';
import { Sender } from './sender.ts';
import { spansOf, type TracedRun } from './spans.ts';

export interface OtlpOptions {
  /** Default: those in `OTEL_EXPORTER_OTLP_HEADERS`, such as `authorization=Basic%20abc`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Most episodes of a step or evaluation that are sent. Default: 8. */
  readonly episodes?: number;
  /**
   * Send what was said and done, and not only numbers. Default: as `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` says,
   * where it is `SPAN_ONLY` or `SPAN_AND_EVENT`.
   */
  readonly content?: boolean;
}

const timeoutMs = 5000;
const closeMs = 2000;

/**
 * Send metrics to `url/v1/metrics` and stored episodes to `url/v1/traces`, as protobuf. A collector that takes only one of them
 * (404, 405, 415) gets that one; one that fails three times in a row ends the sink. It sends in the background and keeps at most
 * 8 MB that wait: the oldest are left out then.
 *
 * @example
 * await train({ world: 'frozen-lake', sinks: [otlp('http://localhost:4318', { episodes: 16 })] });
 */
export function otlp(url: string, options: OtlpOptions = {}): Sink {
  const {
    headers = headersOf(process.env.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    episodes: most = 8,
    content = ['SPAN_ONLY', 'SPAN_AND_EVENT'].includes(
      process.env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT ?? '',
    ),
  } = options;
  const sender = new Sender({ url: url.replace(/\/+$/, ''), headers, timeoutMs });
  let run: TracedRun = { run: '', generation: 1, environment: 'agent', content };
  let origin: Origin = { version, resource: {} };
  /** When the last thing ended, and so the next began. */
  let before = Date.now();
  let began = before;
  return {
    open: ({ run: name, generation, environment, recipe }) => {
      run = { run: name, generation, environment, content };
      origin = {
        version,
        resource: {
          'service.name': 'turnwise',
          'turnwise.run': name,
          'turnwise.environment': environment,
          'turnwise.recipe': recipe,
          'turnwise.generation': generation,
        },
      };
      before = Date.now();
    },
    event: (event) => {
      began = before;
      before = Date.parse(event.time);
      const measured = measuredIn(event);
      if (!measured) return;
      const { dropped } = sender;
      const own = dropped > 0 ? { 'otlp/dropped': dropped } : {};
      const gauges = gaugesOf({ ...measured, metrics: { ...measured.metrics, ...own } });
      sender.send('metrics', metricsRequest(origin, measured.time, gauges));
    },
    episodes: (stored) => {
      const members = stored.groups.flatMap((group) => group.members).slice(0, most);
      const spans = members.flatMap((episode) => spansOf(run, stored, episode, began));
      if (spans.length > 0) sender.send('traces', traceRequest(origin, spans));
    },
    close: () => sender.close(closeMs),
  };
}

/** `name=value,name=value`, with percent-encoded values. */
function headersOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]];
    }),
  );
}
