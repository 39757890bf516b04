/** How was the run made? */

import type { Setting } from '../../shapes.ts';
import { runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import { query, show } from '../navigation/router.ts';
import { Failed, Waiting } from '../parts/states.tsx';
import { plural } from '../text/format.ts';
import { Settings } from './settings-card.tsx';
import { TabPage } from './tab-page.tsx';

export function ConfigurationPage({ run }: { readonly run: string }) {
  return (
    <TabPage run={run} tab="config">
      {() => <Configuration run={run} />}
    </TabPage>
  );
}

function Configuration({ run }: { readonly run: string }) {
  const { value: settings, problem } = useLoaded<Setting[]>(runPath(run, '/config'));
  const wanted = (query.value.get('q') ?? '').toLowerCase();
  if (problem) return <Failed problem={problem} />;
  if (!settings) return <Waiting lines={10} />;
  const shown = settings.filter(({ key }) => key.toLowerCase().includes(wanted));
  const differing = shown.filter(({ differs }) => differs);
  return (
    <>
      <label class="field search">
        <span class="unseen">Search settings</span>
        <input
          type="search"
          placeholder="Search settings"
          value={query.value.get('q') ?? ''}
          onInput={({ currentTarget }) => show({ q: currentTarget.value || undefined })}
        />
      </label>
      {differing.length > 0 && (
        <section class="card" aria-label="What differs">
          <h2>{plural(differing.length, 'setting')} that differ from the defaults</h2>
          <Settings settings={differing} />
        </section>
      )}
      <section class="card" aria-label="All settings">
        <h2>All</h2>
        <Settings settings={shown} />
      </section>
    </>
  );
}
