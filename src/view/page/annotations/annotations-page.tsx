/** What have I judged, and what can be trained from it? */

import { useState } from 'preact/hooks';
import type { Annotation } from '../../annotation.ts';
import type { JudgedRun } from '../../shapes.ts';
import { postJson, Refusal, runPath } from '../data/client.ts';
import { forget, useLoaded } from '../data/loaded.ts';
import { annotationsAddress } from '../navigation/places.ts';
import { address, query } from '../navigation/router.ts';
import { Link } from '../parts/link.tsx';
import { Shell } from '../parts/shell.tsx';
import { plural } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';
import { JudgementTable } from './judgement-table.tsx';

export function AnnotationsPage() {
  const run = query.value.get('run');
  return run === null ? <AllRuns /> : <OfRun key={run} run={run} />;
}

interface Counted {
  readonly run: string;
  readonly annotations: number;
}

function AllRuns() {
  const { value: runs, problem } = useLoaded<Counted[]>('/api/annotations', 1);
  return (
    <Shell crumbs={[{ label: 'annotations' }]} problem={problem}>
      {runs && (
        <>
          <h1 class="title">Annotations</h1>
          {runs.length === 0 ? (
            <HowTo />
          ) : (
            <section class="card" aria-label="Runs with annotations">
              <ul class="plain-list">
                {runs.map(({ run, annotations }) => (
                  <li key={run}>
                    <Link to={annotationsAddress(run)}>{oneLine(run, 60)}</Link>{' '}
                    <span class="ink2">{plural(annotations, 'episode')}</span>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </>
      )}
    </Shell>
  );
}

function OfRun({ run }: { readonly run: string }) {
  const [version, setVersion] = useState(1);
  const [failure, setFailure] = useState('');
  const { value, problem } = useLoaded<JudgedRun>(runPath(run, '/judged'), version);
  const up = address('runs', run);
  const withdraw = async ({ place, group, member, label }: Annotation): Promise<void> => {
    try {
      await postJson(runPath(run, '/annotations'), { place, group, member, label });
      setFailure('');
    } catch (error) {
      setFailure(error instanceof Refusal ? error.message : String(error));
    }
    forget(runPath(run));
    setVersion((before) => before + 1);
  };
  return (
    <Shell crumbs={[{ label: run, to: up }, { label: 'annotations' }]} problem={problem}>
      {value && (
        <>
          <div class="title">
            <div>
              <h1>Annotations</h1>
              <p class="ink2">{summaryOf(value)}</p>
            </div>
          </div>
          {failure !== '' && (
            <p class="banner alarm" role="alert">
              {failure}
            </p>
          )}
          {value.judgements.length === 0 ? (
            <HowTo />
          ) : (
            <>
              <JudgementTable run={run} rows={value.judgements} onWithdraw={withdraw} />
              <Training judged={value} />
            </>
          )}
        </>
      )}
    </Shell>
  );
}

function summaryOf({ judgements, rows, pairs }: JudgedRun): string {
  const said = plural(judgements.length, 'judged episode');
  if (rows === 0) return `${said}, none of which training can use`;
  return `${said} · ${plural(rows, 'row')} to train on, of them ${plural(pairs, 'pair')} of a corrected turn`;
}

/** From judgements to a new run. */
function Training({ judged: { rows, commands } }: { readonly judged: JudgedRun }) {
  if (rows === 0) return null;
  return (
    <section class="card" aria-label="Train from them">
      <h2>Train from them</h2>
      <p class="ink2">
        A judged episode is a conversation whose only reward is the judgement, 1 or 0. A correction is a pair:
        the corrected turn is preferred to the original.
      </p>
      <pre>{commands.map((command) => `npx ${command}`).join('\n')}</pre>
    </section>
  );
}

function HowTo() {
  return (
    <section class="card notice">
      <h2>Nothing is judged yet</h2>
      <p class="ink2">
        Open an episode and press <kbd>+</kbd> or <kbd>-</kbd>, correct a turn with <kbd>c</kbd>, or write a
        note.
      </p>
    </section>
  );
}
