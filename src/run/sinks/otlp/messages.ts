/** Requests of OpenTelemetry's protocol (OTLP), as protobuf. */

import { Message } from '../message.ts';

export type AttributeValue = string | number | boolean | readonly string[];
/** What is undefined is left out. Whole numbers are sent as integers. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

export interface Span {
  /** 16 and 8 bytes. */
  readonly trace: Uint8Array;
  readonly id: Uint8Array;
  readonly parent?: Uint8Array;
  readonly name: string;
  readonly kind: 'internal' | 'client';
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly attributes: Attributes;
  /** What failed. */
  readonly error?: string;
}

export interface Gauge {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
  readonly attributes: Attributes;
}

export interface Origin {
  readonly version: string;
  readonly resource: Attributes;
}

export function traceRequest(origin: Origin, spans: readonly Span[]): Uint8Array {
  return request(origin, (scope) => {
    for (const span of spans) scope.inner(2, (inner) => writeSpan(inner, span));
  });
}

/** @param time milliseconds since 1970 */
export function metricsRequest(origin: Origin, time: number, gauges: readonly Gauge[]): Uint8Array {
  return request(origin, (scope) => {
    for (const { name, unit, value, attributes } of gauges) {
      scope.inner(2, (metric) =>
        metric
          .text(1, name)
          .text(3, unit)
          .inner(5, (gauge) =>
            gauge.inner(1, (point) => {
              point.fixed64(3, nanoseconds(time)).double(4, value);
              writeAttributes(point, 7, attributes);
            }),
          ),
      );
    }
  });
}

function request({ version, resource }: Origin, write: (scope: Message) => void): Uint8Array {
  return new Message()
    .inner(1, (all) => {
      all.inner(1, (one) => writeAttributes(one, 1, resource));
      all.inner(2, (scope) => {
        scope.inner(1, (library) => library.text(1, 'turnwise').text(2, version));
        write(scope);
      });
    })
    .finish();
}

const kinds = { internal: 1, client: 3 } as const;
const failed = 2;

function writeSpan(message: Message, span: Span): void {
  message.bytes(1, span.trace).bytes(2, span.id);
  if (span.parent) message.bytes(4, span.parent);
  message.text(5, span.name).int(6, kinds[span.kind]);
  message.fixed64(7, nanoseconds(span.from)).fixed64(8, nanoseconds(span.to));
  writeAttributes(message, 9, span.attributes);
  const { error } = span;
  if (error !== undefined) message.inner(15, (status) => status.text(2, error).int(3, failed));
}

function writeAttributes(message: Message, field: number, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) {
      message.inner(field, (entry) => entry.text(1, key).inner(2, (inner) => writeValue(inner, value)));
    }
  }
}

function writeValue(message: Message, value: AttributeValue): void {
  if (typeof value === 'string') message.text(1, value);
  else if (typeof value === 'boolean') message.bool(2, value);
  else if (typeof value !== 'number') {
    message.inner(5, (array) => {
      for (const item of value) array.inner(1, (inner) => inner.text(1, item));
    });
  } else if (Number.isSafeInteger(value)) message.int(3, value);
  else message.double(4, value);
}

function nanoseconds(milliseconds: number): bigint {
  const whole = Math.floor(milliseconds);
  return BigInt(whole) * 1_000_000n + BigInt(Math.round((milliseconds - whole) * 1e6));
}
