/** The run as one document, to send to a colleague. */

import { useState } from 'preact/hooks';
import { ask, Refusal, runPath } from '../data/client.ts';
import { useKeys } from '../navigation/keys.ts';
import { saveFile } from '../parts/save.ts';

export function BundleButton({ run }: { readonly run: string }) {
  const [state, setState] = useState<'ready' | 'working' | { readonly problem: string }>('ready');
  const save = async (): Promise<void> => {
    if (state === 'working') return;
    setState('working');
    try {
      const response = await ask(runPath(run, '/bundle'));
      saveFile(`${run}.html`, await response.text(), 'text/html');
      setState('ready');
    } catch (error) {
      setState({ problem: error instanceof Refusal ? error.message : String(error) });
    }
  };
  useKeys([{ key: 'b', does: 'save as one document', act: () => void save() }]);
  return (
    <>
      <button
        type="button"
        disabled={state === 'working'}
        title="One file with the curves and some episodes, without secrets, that opens anywhere"
        onClick={() => void save()}
      >
        {state === 'working' ? 'Bundling …' : 'Bundle'} <kbd>b</kbd>
      </button>
      {typeof state === 'object' && (
        <span class="red small" role="alert">
          {state.problem}
        </span>
      )}
    </>
  );
}
