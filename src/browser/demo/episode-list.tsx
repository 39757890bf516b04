/** Episodes of this run, by the step that played them: each square leads to one, in the pages of the viewer. */

import { computed, signal } from '@preact/signals';
import { taskText } from '../../view/page/group/task-text.ts';
import { episodeAddress, groupAddress } from '../../view/page/navigation/places.ts';
import { Link } from '../../view/page/parts/link.tsx';
import { Members } from '../../view/page/parts/members.tsx';
import { plural } from '../../view/page/text/format.ts';
import type { ListedEpisodes } from './messages.ts';
import { listed, runName } from './session.ts';

const nameOf = ({ step, label }: ListedEpisodes): string =>
  label === 'training' ? `step ${step}, training` : `after step ${step}, test tasks, ${label}`;

/** Empty: the latest training step. */
const chosen = signal('');
const shown = computed(
  () =>
    listed.value.find((one) => nameOf(one) === chosen.value) ??
    listed.value.findLast(({ label }) => label === 'training') ??
    listed.value.at(-1),
);

export function EpisodeList() {
  const list = shown.value;
  return (
    <section class="card episodes-of-run" aria-label="Episodes">
      <div class="card-head">
        <h2>Episodes</h2>
        {list && (
          <label class="field">
            <span class="unseen">Step</span>
            <select
              value={chosen.value}
              onChange={({ currentTarget }) => {
                chosen.value = currentTarget.value;
              }}
            >
              <option value="">the latest step</option>
              {listed.value.map((one) => (
                <option key={nameOf(one)}>{nameOf(one)}</option>
              ))}
            </select>
          </label>
        )}
      </div>
      {list ? <Groups list={list} /> : <p class="ink2">None yet.</p>}
    </section>
  );
}

function Groups({ list }: { readonly list: ListedEpisodes }) {
  const { step, label, groups, more } = list;
  const place = label === 'training' ? String(step) : `evaluation-${step}`;
  return (
    <>
      <p class="ink2 small">{nameOf(list)}. A square is an episode: filled where it succeeded.</p>
      <ul>
        {groups.map(({ group, task, members }) => {
          const at = { run: runName.value, place, group, label };
          return (
            <li key={group}>
              <Link to={groupAddress(at)}>
                <code>{taskText(task, 40)}</code>
              </Link>
              <Members marks={members} to={(member) => episodeAddress(at, member)} />
            </li>
          );
        })}
      </ul>
      {more > 0 && <p class="ink3 small">and {plural(more, 'group')} that the tab does not keep</p>}
    </>
  );
}
