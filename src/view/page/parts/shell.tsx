/** What is around every page: where it is, the theme, the keys. */

import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Problem } from '../../shapes.ts';
import { bound, helpShown, keysOn, switchKeys, useKeys } from '../navigation/keys.ts';
import { go } from '../navigation/router.ts';
import { switchTheme, theme } from '../navigation/theme.ts';
import { oneLine } from '../text/safe-text.ts';
import { Link } from './link.tsx';
import { Failed, Waiting } from './states.tsx';

export interface Crumb {
  readonly label: string;
  readonly to?: string;
}

interface ShellProps {
  /** After the list of all runs. */
  readonly crumbs: readonly Crumb[];
  /** It is above all others. */
  readonly isFirst?: boolean;
  /** Where `u` leads: to the last crumb with an address, unless told. */
  readonly up?: string;
  /** Why the page cannot be shown. */
  readonly problem?: Problem | undefined;
  /** Nothing as long as it waits. */
  readonly children?: ComponentChildren;
}

export function Shell({ crumbs: below, isFirst, problem, children, ...rest }: ShellProps) {
  const crumbs: readonly Crumb[] = isFirst ? below : [{ label: 'runs', to: '/' }, ...below];
  const up = rest.up ?? crumbs.findLast(({ to }) => to !== undefined)?.to;
  const title = crumbs.map(({ label }) => oneLine(label, 60));
  useEffect(() => {
    document.title = [...title.slice(-2).reverse(), 'Turnwise'].join(' · ');
  });
  useKeys([
    { key: 't', does: 'light or dark', act: switchTheme },
    {
      key: '?',
      does: 'these keys',
      act: () => {
        helpShown.value = !helpShown.value;
      },
    },
    ...(up === undefined ? [] : [{ key: 'u', does: 'up', act: () => go(up) }]),
  ]);
  return (
    <>
      <header class="top">
        <div class="inner">
          <Link to="/" class="brand" label="Turnwise, all runs">
            <Mark />
            <b>turnwise</b>
          </Link>
          <nav aria-label="Where you are" class="crumbs">
            {crumbs.map(({ label, to }, index) => (
              <span key={label}>
                {index > 0 && <i aria-hidden="true">/</i>}
                {to === undefined ? (
                  <b aria-current="page">{title[index]}</b>
                ) : (
                  <Link to={to}>{title[index]}</Link>
                )}
              </span>
            ))}
          </nav>
          <button
            type="button"
            class="quiet"
            onClick={switchTheme}
            aria-label={`Theme: ${theme.value}`}
            title="Theme (t)"
          >
            ◐
          </button>
          <button
            type="button"
            class="quiet keyed"
            aria-label="Keys"
            aria-expanded={helpShown.value}
            onClick={() => {
              helpShown.value = !helpShown.value;
            }}
          >
            <kbd>?</kbd>
          </button>
        </div>
      </header>
      {helpShown.value && <Keys />}
      <main class="inner">
        {problem ? (
          <>
            <h1 class="title">This cannot be shown</h1>
            <Failed problem={problem} />
          </>
        ) : (
          children || <Waiting lines={8} />
        )}
      </main>
    </>
  );
}

const keyNames: Readonly<Record<string, string>> = { Enter: '↵', ' ': 'space' };

function Keys() {
  const actions = new Map(bound.value.flat().map(({ key, does }) => [key, does]));
  return (
    <section class="card keys inner" aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {[...actions].map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{keyNames[key] ?? key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label>
        <input
          type="checkbox"
          checked={keysOn.value}
          onChange={({ currentTarget }) => switchKeys(currentTarget.checked)}
        />{' '}
        Keys work
      </label>
    </section>
  );
}

function Mark() {
  return (
    <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
      <path
        d="M3 12V9a5 5 0 0 1 5-5h6M11 1l3.2 3L11 7"
        fill="none"
        stroke="currentColor"
        stroke-width="2"
        stroke-linecap="round"
        stroke-linejoin="round"
        transform="translate(0 2)"
      />
    </svg>
  );
}
