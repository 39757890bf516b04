/** Summaries of TensorBoard: a tag, a tensor, and the plugin that shows it. */

import { endianness } from 'node:os';
import type { Message } from '../message.ts';

const float = 1;
const double = 2;
const string = 7;
const scalarClass = 1;
const tensorClass = 2;

/** Single precision: the default server drops scalars in double. */
export function scalar(summary: Message, tag: string, value: number): void {
  summary.inner(1, (one) =>
    one
      .text(1, tag)
      .inner(8, (tensor) =>
        tensor
          .int(1, float)
          .inner(2, () => {})
          .bytes(5, bytesOf(Float32Array.of(value))),
      )
      .inner(9, (metadata) => metadata.inner(1, (plugin) => plugin.text(1, 'scalars')).int(4, scalarClass)),
  );
}

/** @param buckets left, right and count of each */
export function histogram(
  summary: Message,
  tag: string,
  buckets: readonly (readonly [number, number, number])[],
): void {
  summary.inner(1, (one) =>
    one
      .text(1, tag)
      .inner(8, (tensor) =>
        tensor
          .int(1, double)
          .inner(2, (shape) =>
            shape.inner(2, (rows) => rows.int(1, buckets.length)).inner(2, (columns) => columns.int(1, 3)),
          )
          .bytes(4, bytesOf(Float64Array.from(buckets.flat()))),
      )
      .inner(9, (metadata) => plugin(metadata, 'histograms')),
  );
}

/** Drawn as Markdown. */
export function markdown(summary: Message, tag: string, text: string): void {
  summary.inner(1, (one) =>
    one
      .text(1, tag)
      .inner(8, (tensor) =>
        tensor
          .int(1, string)
          .inner(2, () => {})
          .text(8, text),
      )
      .inner(9, (metadata) => plugin(metadata, 'text')),
  );
}

type Setting = readonly [string, number | string | boolean];

/** Settings of the run, for the table of hyperparameters. */
export function sessionStart(
  summary: Message,
  settings: readonly Setting[],
  group: string,
  time: number,
): void {
  hparams(summary, '_hparams_/session_start_info', (content) =>
    content.inner(3, (start) => {
      for (const [key, value] of settings) {
        start.inner(1, (entry) => entry.text(1, key).inner(2, (field) => settingOf(field, value)));
      }
      start.text(4, group).double(5, time / 1000);
    }),
  );
}

export function sessionEnd(summary: Message, succeeded: boolean, time: number): void {
  hparams(summary, '_hparams_/session_end_info', (content) =>
    content.inner(4, (end) => end.int(1, succeeded ? 1 : 2).double(2, time / 1000)),
  );
}

function hparams(summary: Message, tag: string, write: (content: Message) => unknown): void {
  summary.inner(1, (one) =>
    one
      .text(1, tag)
      .inner(8, (tensor) => tensor.int(1, float).inner(2, () => {}))
      .inner(9, (metadata) =>
        metadata.inner(1, (plugin) => plugin.text(1, 'hparams').inner(2, write)).int(4, tensorClass),
      ),
  );
}

function settingOf(field: Message, value: number | string | boolean): void {
  if (typeof value === 'number') field.double(2, value);
  else if (typeof value === 'string') field.text(3, value);
  else field.bool(4, value);
}

function plugin(metadata: Message, name: string): void {
  metadata.inner(1, (one) => one.text(1, name)).int(4, tensorClass);
}

/** Of tensors the byte order is little-endian, as that of every machine that Node runs on today. */
function bytesOf(values: Float32Array | Float64Array): Uint8Array {
  if (endianness() !== 'LE') throw new Error('TensorBoard files are little-endian, and this machine is not');
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
