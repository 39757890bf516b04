/** The demo: an agent learns in this tab, and its episodes are looked at with the pages of the viewer. */

import { render } from 'preact';
import { EpisodePage } from '../../view/page/episode/episode-page.tsx';
import { GroupPage } from '../../view/page/group/group-page.tsx';
import { segments } from '../../view/page/navigation/router.ts';
import '../../view/page/navigation/theme.ts';
import { StartPage } from './start-page.tsx';

/** `/runs/NAME/steps/12/groups/3/0`, as in the viewer; everything else is the page that trains. */
function App() {
  const [, run, kind, step, groups, group, member] = segments.value;
  if (run === undefined || groups !== 'groups' || group === undefined) return <StartPage />;
  const at = { run, place: kind === 'steps' ? step! : `evaluation-${step}`, group: Number(group) };
  const key = segments.value.join('/');
  if (member === undefined) return <GroupPage key={key} {...at} />;
  return <EpisodePage key={key} {...at} member={Number(member)} />;
}

render(<App />, document.getElementById('page')!);
