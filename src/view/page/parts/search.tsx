/** Words that somebody looks for: they stand in the address, and `/` leads here. */

import { useKeys } from '../navigation/keys.ts';
import { query, show } from '../navigation/router.ts';

interface SearchProps {
  readonly what: string;
  readonly hint?: string;
}

export function Search({ what, hint = what }: SearchProps) {
  useKeys([{ key: '/', does: 'search', act: () => document.getElementById('search')?.focus() }]);
  return (
    <label class="field search">
      <span class="unseen">{what}</span>
      <input
        id="search"
        type="search"
        placeholder={hint}
        value={query.value.get('q') ?? ''}
        onInput={({ currentTarget }) => show({ q: currentTarget.value || undefined })}
      />
      <kbd>/</kbd>
    </label>
  );
}
