/** How was the run made? */

import type { Setting } from '../../shapes.ts';
import { runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import { query } from '../navigation/router.ts';
import { Search } from '../parts/search.tsx';
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
      <Search what="Search settings" />
      {differing.length > 0 && (
        <section class="card" aria-label="What differs">
          <h2>{plural(differing.length, 'setting')} other than usual</h2>
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
