import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { StoredEvent } from '../../train/loop/events.ts';
import { runtime, runtimeWarning } from './runtime-version.ts';

const start = { type: 'start', runtime: 'onnxruntime 1.30.0' } as StoredEvent;
const resumed = (version: string): StoredEvent => ({ type: 'resume', step: 3, runtime: version });

test('the version is pinned, and is the one that is installed', () => {
  const read = (name: string) => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));
  const { dependencies } = read('../../../package.json') as { readonly dependencies: Record<string, string> };
  expect(dependencies['onnxruntime-common']).toMatch(/^\d+\.\d+\.\d+$/);
  expect(runtime).toBe(`onnxruntime ${dependencies['onnxruntime-common']}`);
});

test('a run that goes on with another version is warned once', () => {
  expect(runtimeWarning([start], 'onnxruntime 1.30.0')).toBeUndefined();
  expect(runtimeWarning([start], 'onnxruntime 1.31.0')?.message).toBe(
    'This run ran with onnxruntime 1.30.0 and goes on with onnxruntime 1.31.0: what follows is as good, but not bit for bit what it would have been',
  );
  expect(runtimeWarning([start, resumed('onnxruntime 1.31.0')], 'onnxruntime 1.31.0')).toBeUndefined();
  expect(runtimeWarning([start, resumed('onnxruntime 1.31.0')], 'onnxruntime 1.30.0')).toBeDefined();
});

test('a run of a server, or of an earlier version, recorded none', () => {
  expect(runtimeWarning([{ type: 'start' } as StoredEvent])).toBeUndefined();
});
