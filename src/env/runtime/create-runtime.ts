/** A runtime by its language. */

import { JavaScriptRuntime } from './javascript.ts';
import { PythonRuntime } from './node/python.ts';
import { ShellRuntime } from './node/shell.ts';
import { DEFAULT_LIMITS, type Language, type Runtime, type RuntimeLimits } from './runtime.ts';

/**
 * A new interpreter. JavaScript runs in the sandbox, which has no files, network or clock. Python (`python3`) and the shell
 * (`bash`) are processes of this machine with a folder of their own, without this process's environment, with limits on
 * time, memory, file size, processes and output, and ended with all that they started. They keep accidents in; they are no
 * wall against code that wants out, which can read and write what the user may: give such code a container.
 *
 * @param limits default: 10 s a call, 512 MiB, 10,000 characters
 * @throws TurnwiseError `runtime-missing-interpreter`, `sandbox-lost`
 *
 * @example
 * const shell = await createRuntime('shell');
 * await shell.run('echo hi > a.txt'); // { output: '', value: 0 }
 * await shell.files.read('a.txt'); // 'hi\n'
 * await shell.close();
 */
export async function createRuntime(
  language: Language,
  limits: Partial<RuntimeLimits> = {},
): Promise<Runtime> {
  const all = { ...DEFAULT_LIMITS, ...limits };
  switch (language) {
    case 'javascript':
      return JavaScriptRuntime.create(all);
    case 'python':
      return PythonRuntime.create(all);
    case 'shell':
      return ShellRuntime.create(all);
  }
}
