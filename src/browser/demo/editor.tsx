/** The visitor's world as text. It is run in the worker alone: the page never evaluates it. */

import type { Signal } from '@preact/signals';
import { exampleWorld } from './example-world.ts';

interface EditorProps {
  readonly code: Signal<string>;
  readonly disabled: boolean;
}

export function Editor({ code, disabled }: EditorProps) {
  return (
    <div class="editor">
      <textarea
        aria-label="Code of your world"
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        wrap="off"
        rows={Math.min(40, Math.max(16, code.value.split('\n').length + 1))}
        value={code.value}
        disabled={disabled}
        onInput={({ currentTarget }) => {
          code.value = currentTarget.value;
        }}
      />
      <p class="ink2 small">
        It is checked on three tasks before anything is learned.{' '}
        <button
          type="button"
          class="quiet small"
          disabled={disabled || code.value === exampleWorld}
          onClick={() => {
            code.value = exampleWorld;
          }}
        >
          Back to the example
        </button>
      </p>
    </div>
  );
}
