/** The run with its last checkpoint, as an archive of one folder. */

import { signal } from '@preact/signals';
import type { Problem } from '../../view/shapes.ts';
import { ask, checkpointStep, problem, runName } from './session.ts';

const isPacking = signal(false);
/** What opens the archive that was saved last, and of which run it is. */
const saved = signal<{ readonly name: string; readonly command: string } | undefined>(undefined);

async function download(): Promise<void> {
  isPacking.value = true;
  const name = runName.value;
  try {
    const bytes = (await ask({ kind: 'archive', name })) as Uint8Array<ArrayBuffer>;
    const address = URL.createObjectURL(new Blob([bytes], { type: 'application/x-tar' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = `${name}.tar`;
    link.click();
    // Not at once: the browser reads it after the click.
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    const world = name.replace(/-browser-\d+$/, '');
    const command = `mkdir -p runs && tar -xf ${name}.tar -C runs && npx turnwise play ${world === 'own' ? `runs/${name}/world.mjs` : world} --run ${name}`;
    saved.value = { name, command };
  } catch (error) {
    problem.value = error as Problem;
  } finally {
    isPacking.value = false;
  }
}

export function Download() {
  const step = checkpointStep.value;
  return (
    <>
      <button type="button" disabled={step === undefined || isPacking.value} onClick={() => void download()}>
        Download checkpoint{step === undefined ? '' : ` ${step}`}
      </button>
      {saved.value?.name === runName.value && (
        <span class="saved ink2 small" role="status">
          Watch it play: <code>{saved.value.command}</code>
        </span>
      )}
    </>
  );
}
