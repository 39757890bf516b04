/** What do I think of it? A thumb, what should have been done, a note: kept beside the run, to learn from. */

import { useState } from 'preact/hooks';
import type { Annotation } from '../../annotation.ts';
import type { ShownEpisode } from '../../shapes.ts';
import { postJson, Refusal, runPath } from '../data/client.ts';
import { forget, useLoaded } from '../data/loaded.ts';
import { useKeys } from '../navigation/keys.ts';
import { annotationsAddress, type GroupAt } from '../navigation/places.ts';
import { Link } from '../parts/link.tsx';
import { oneLine } from '../text/safe-text.ts';

interface JudgementProps {
  readonly at: GroupAt;
  readonly member: number;
  readonly episode: ShownEpisode;
  readonly chosen: number | undefined;
}

type Said = Pick<Annotation, 'verdict' | 'correction' | 'note'>;

export function JudgementCard({ at, member, episode, chosen }: JudgementProps) {
  const path = runPath(at.run, '/annotations');
  const [version, setVersion] = useState(1);
  const [failure, setFailure] = useState('');
  const { value: all = [] } = useLoaded<Annotation[]>(path, version);
  const known = all.find(
    (one) =>
      one.place === at.place &&
      one.group === at.group &&
      one.member === member &&
      one.label === episode.label,
  );
  const turn = chosen ?? 0;
  const say = async (changes: { readonly [Key in keyof Said]?: Said[Key] | undefined }): Promise<void> => {
    const { place, group } = at;
    const { verdict, correction, note } = { ...known, ...changes };
    try {
      await postJson(path, { place, group, member, label: episode.label, verdict, correction, note });
      setFailure('');
    } catch (error) {
      setFailure(error instanceof Refusal ? error.message : String(error));
    }
    forget(runPath(at.run));
    setVersion((before) => before + 1);
  };
  const judge = (verdict: 'up' | 'down') =>
    void say({ verdict: known?.verdict === verdict ? undefined : verdict });
  useKeys([
    { key: '+', does: 'good', act: () => judge('up') },
    { key: '-', does: 'bad', act: () => judge('down') },
    { key: 'c', does: 'correct the chosen turn', act: () => document.getElementById('correction')?.focus() },
  ]);
  const mine = known?.correction?.turn === turn ? known.correction.action : '';
  return (
    <section class="card judgement" aria-label="Judgement">
      <div class="card-head">
        <h2>Judgement</h2>
        {all.length > 0 && (
          <Link to={annotationsAddress(at.run)} class="small">
            {all.length} in this run
          </Link>
        )}
      </div>
      <p class="tools">
        <button type="button" aria-pressed={known?.verdict === 'up'} onClick={() => judge('up')}>
          ▲ Good <kbd>+</kbd>
        </button>
        <button type="button" aria-pressed={known?.verdict === 'down'} onClick={() => judge('down')}>
          ▼ Bad <kbd>-</kbd>
        </button>
      </p>
      <label class="field block">
        <span class="ink2">
          Turn {turn + 1} should have been <kbd>c</kbd>
        </span>
        <input
          key={`${turn} ${mine}`}
          id="correction"
          defaultValue={mine}
          placeholder={oneLine(episode.turns[turn]?.action ?? '', 60)}
          onChange={({ currentTarget: { value } }) =>
            void say({ correction: value === '' ? undefined : { turn, action: value } })
          }
        />
      </label>
      {known?.correction && known.correction.turn !== turn && (
        <p class="ink2 small">
          Turn {known.correction.turn + 1} is corrected: <code>{oneLine(known.correction.action, 60)}</code>
        </p>
      )}
      <label class="field block">
        <span class="ink2">Note</span>
        <textarea
          key={known?.note ?? ''}
          rows={2}
          defaultValue={known?.note ?? ''}
          onChange={({ currentTarget: { value } }) => void say({ note: value || undefined })}
        />
      </label>
      {failure !== '' && (
        <p class="red small" role="alert">
          {failure}
        </p>
      )}
    </section>
  );
}
