/** Whose turn it is: sample it, let the policy play on, or type an action. */

import { useState } from 'preact/hooks';
import type { PlayEvent, PlayMove } from '../../play/messages.ts';
import { oneLine } from '../text/safe-text.ts';

interface ControlsProps {
  readonly state: Extract<PlayEvent, { readonly kind: 'state' }>;
  readonly onMove: (move: PlayMove) => void;
}

export function Controls({ state, onMove }: ControlsProps) {
  const [text, setText] = useState('');
  const { actions = [], form, role, turn } = state;
  const type = (action: string): void => {
    setText('');
    if (action !== '') onMove({ kind: 'type', text: action });
  };
  return (
    <section class="controls" aria-label={`Turn ${turn + 1}`}>
      <p>
        <b>
          Turn {turn + 1}, {oneLine(role, 24)}
        </b>
      </p>
      <p class="tools">
        <button type="button" class="primary" onClick={() => onMove({ kind: 'sample' })}>
          Sample one turn <kbd>s</kbd>
        </button>
        <button type="button" onClick={() => onMove({ kind: 'rest' })}>
          Play on <kbd>p</kbd>
        </button>
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          type(text);
        }}
      >
        <label class="field">
          <span class="unseen">Action</span>
          <input
            placeholder={form === 'ACTION' ? 'or type an action' : `or type it as ${oneLine(form, 40)}`}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>{' '}
        <button type="submit" disabled={text === ''}>
          Do it
        </button>
      </form>
      {actions.length > 0 && (
        <p class="legal">
          {actions.map((action) => (
            <button key={action} type="button" class="small" onClick={() => type(action)}>
              {oneLine(action, 40)}
            </button>
          ))}
        </p>
      )}
    </section>
  );
}
