/** JavaScript as a runtime: the QuickJS sandbox, which needs no process. Files are the entries of an object in it. */

import type { Json } from '../../core/json/json.ts';
import { createSandbox, type Sandbox } from '../sandbox/sandbox.ts';
import { badFile, requireName } from './faults.ts';
import {
  type CallLimits,
  cutOutput,
  type RunResult,
  type Runtime,
  type RuntimeFiles,
  type RuntimeLimits,
} from './runtime.ts';

export class JavaScriptRuntime implements Runtime {
  readonly language = 'javascript';
  readonly cost = 'free';
  readonly #sandbox: Sandbox;

  private constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  static create({ timeMs, memoryBytes, outputLength }: RuntimeLimits): JavaScriptRuntime {
    const limits = { timeLimitMs: timeMs, memoryLimitBytes: memoryBytes, outputLimit: outputLength };
    return new JavaScriptRuntime(createSandbox(limits));
  }

  async run(code: string, { timeMs, outputLength, signal }: CallLimits = {}): Promise<RunResult> {
    const given = { value: true, ...(timeMs !== undefined && { timeLimitMs: timeMs }) };
    const { output, error, value } = await this.#sandbox.evaluate(
      code,
      signal ?? new AbortController().signal,
      given,
    );
    return {
      output: outputLength === undefined ? output : cutOutput(output, outputLength),
      ...(value !== undefined && { value: JSON.parse(value) as Json }),
      ...(error !== undefined && { error }),
    };
  }

  async inject(name: string, value: Json): Promise<void> {
    requireName(name);
    await this.run(`${name} = ${literal(value)}; undefined`);
  }

  async take(name: string): Promise<Json | undefined> {
    requireName(name);
    return (await this.run(`typeof ${name} === 'undefined' ? undefined : ${name}`)).value;
  }

  async fork(): Promise<JavaScriptRuntime> {
    return new JavaScriptRuntime(this.#sandbox.fork());
  }

  get files(): RuntimeFiles {
    return {
      read: async (path) => {
        const { value } = await this.run(`globalThis.files?.[${literal(path)}]`);
        if (typeof value !== 'string') throw badFile(path, 'is not there');
        return value;
      },
      write: async (path, text) => {
        await this.run(`(globalThis.files ??= {})[${literal(path)}] = ${literal(text)}; undefined`);
      },
      list: async () => {
        const { value } = await this.run('Object.keys(globalThis.files ?? {}).sort()');
        return Array.isArray(value) ? value.map(String) : [];
      },
    };
  }

  async close(): Promise<void> {
    this.#sandbox.close();
  }
}

/** JSON within a program, whose keys are keys and nothing else. */
function literal(value: Json): string {
  return `JSON.parse(${JSON.stringify(JSON.stringify(value))})`;
}
