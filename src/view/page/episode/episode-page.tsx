/** What happened, and what did training make of it? */

import { useEffect, useState } from 'preact/hooks';
import type { GroupOutline, ShownEpisode } from '../../shapes.ts';
import { bundleStart } from '../data/bundle.ts';
import { useLoaded } from '../data/loaded.ts';
import { leavesMajority } from '../group/prefix-tree.ts';
import { taskText } from '../group/task-text.ts';
import { useKeys } from '../navigation/keys.ts';
import {
  episodeAddress,
  episodeQuery,
  forkAddress,
  type GroupAt,
  groupAddress,
  groupQuery,
  placeAddress,
  placeName,
} from '../navigation/places.ts';
import { address, go, query, show } from '../navigation/router.ts';
import { Mark } from '../parts/members.tsx';
import { Pager } from '../parts/pager.tsx';
import { Shell } from '../parts/shell.tsx';
import { number, plural } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';
import { type Scale, scales } from '../tokens/scales.ts';
import { Conversation } from './conversation.tsx';
import { CreditCard, useCredit } from './credit-card.tsx';
import { FactsCard } from './facts-card.tsx';
import { JudgementCard } from './judgement-card.tsx';
import { MeasureCard } from './measure-card.tsx';
import { RawRecord } from './raw-record.tsx';
import { StateCard } from './state-card.tsx';
import { Timeline } from './timeline.tsx';
import { useEntropies } from './use-entropies.ts';
import { useUnrepeatable } from './use-work.ts';

interface EpisodePageProps extends GroupAt {
  readonly member: number;
}

export function EpisodePage({ member, ...rest }: EpisodePageProps) {
  const at = { ...rest, label: query.value.get('label') ?? undefined };
  const { run, place, group } = at;
  const outline = useLoaded<GroupOutline>(groupQuery(at));
  const episode = useLoaded<ShownEpisode>(episodeQuery(at, member));
  const problem = episode.problem ?? outline.problem;
  const up = groupAddress(at);
  return (
    <Shell
      crumbs={[
        { label: run, to: address('runs', run) },
        { label: placeName(place), to: placeAddress(run, place) },
        { label: `group ${group}`, to: up },
        { label: `member ${member}` },
      ]}
      problem={problem}
    >
      {episode.value && outline.value && (
        <Body key={member} at={at} member={member} episode={episode.value} outline={outline.value} />
      )}
    </Shell>
  );
}

interface BodyProps {
  readonly at: GroupAt;
  readonly member: number;
  readonly episode: ShownEpisode;
  readonly outline: GroupOutline;
}

function Body({ at, member, episode: stored, outline }: BodyProps) {
  const scale: Scale = scales.find((name) => name === query.value.get('colour')) ?? 'surprise';
  const { episode, note } = useEntropies(at, member, stored, scale === 'entropy');
  const { turns } = episode;
  const members = [...new Set(outline.members.map((one) => one.member))];
  const next = members[members.indexOf(member) + 1];
  const before = members[members.indexOf(member) - 1];
  const role = outline.roles.find((name) => name === query.value.get('role')) ?? outline.roles[0] ?? '';
  const own = outline.members.filter((one) => one.role === role);
  const leaves = leavesMajority(
    own,
    own.findIndex((one) => one.member === member),
  );
  const asked = Number(query.value.get('turn') ?? Number.NaN);
  const chosen = Number.isInteger(asked) && asked >= 1 && asked <= turns.length ? asked - 1 : undefined;
  const [ids, showIds] = useState(false);
  const [raw, showRaw] = useState(false);
  const credit = useCredit(at, episode);
  const unrepeatable = useUnrepeatable(at);
  const canFork = bundleStart === undefined && unrepeatable === undefined;
  const fork = (): void => go(forkAddress(at, member, chosen ?? 0));
  const choose = (turn: number): void => {
    const held = Math.max(0, Math.min(turns.length - 1, turn));
    show({ turn: held + 1 });
    // Once it is drawn.
    requestAnimationFrame(() => seeTurn(held));
  };
  useEffect(() => {
    if (chosen !== undefined) seeTurn(chosen);
  }, []);
  const colour = (name: Scale) => show({ colour: name === 'surprise' ? undefined : name });
  useKeys([
    { key: 'j', does: 'next turn', act: () => choose((chosen ?? -1) + 1) },
    { key: 'k', does: 'previous turn', act: () => choose((chosen ?? 1) - 1) },
    { key: 'g', does: 'first turn', act: () => choose(0) },
    { key: 'G', does: 'last turn', act: () => choose(turns.length - 1) },
    { key: 'd', does: 'where it leaves the majority', act: () => leaves !== undefined && choose(leaves) },
    ...(canFork ? [{ key: 'f', does: 'fork at the chosen turn', act: fork }] : []),
    { key: 'i', does: 'token ids', act: () => showIds(!ids) },
    { key: 'r', does: 'raw record', act: () => showRaw(!raw) },
    ...scales.map((name, index) => ({
      key: String(index + 1),
      does: `colour by ${name}`,
      act: () => colour(name),
    })),
  ]);
  return (
    <>
      <div class="title">
        <div>
          <h1 dir="auto">{taskText(outline.task)}</h1>
          <p class="ink2">{summaryOf(episode, outline, member)}</p>
        </div>
        <Pager
          what="member"
          beside={{
            before: before === undefined ? undefined : episodeAddress(at, before),
            after: next === undefined ? undefined : episodeAddress(at, next),
            asks: next === undefined ? undefined : episodeQuery(at, next),
          }}
        >
          {bundleStart === undefined && (
            <button
              type="button"
              title={unrepeatable ?? 'Go on from the chosen turn by yourself, or with a checkpoint'}
              disabled={!canFork}
              onClick={fork}
            >
              Fork at turn {(chosen ?? 0) + 1} <kbd>f</kbd>
            </button>
          )}
          <button type="button" onClick={() => go(groupAddress(at))}>
            Group <kbd>u</kbd>
          </button>
        </Pager>
      </div>
      <Timeline at={at} episode={episode} outline={outline} member={member} role={role} />
      <div class="main-and-side">
        <Conversation
          at={at}
          member={member}
          episode={episode}
          outline={own}
          scale={scale}
          scaleNote={note}
          onScale={colour}
          chosen={chosen}
          leaves={leaves}
          ids={ids}
          credit={credit.answer}
          role={role}
          onChoose={choose}
        >
          <footer class="episode-end">
            <span class="ink2">
              End: {episode.stop}
              {episode.failure !== undefined && ` — ${oneLine(episode.failure, 300)}`}
            </span>
            <button type="button" aria-pressed={ids} onClick={() => showIds(!ids)}>
              Token ids <kbd>i</kbd>
            </button>
            {bundleStart === undefined && (
              <button type="button" aria-pressed={raw} onClick={() => showRaw(!raw)}>
                Raw record <kbd>r</kbd>
              </button>
            )}
          </footer>
          {raw && <RawRecord path={groupQuery(at, `/members/${member}/raw`)} />}
        </Conversation>
        <div class="side-column">
          {canFork && <StateCard at={at} episode={episode} member={member} chosen={chosen} />}
          <CreditCard at={at} episode={episode} member={member} role={role} chosen={chosen} credit={credit} />
          {canFork && (
            <MeasureCard
              at={at}
              episode={episode}
              member={member}
              role={role}
              chosen={chosen}
              onChoose={choose}
            />
          )}
          {bundleStart === undefined && (
            <JudgementCard at={at} member={member} episode={episode} chosen={chosen} />
          )}
          <FactsCard at={at} member={member} episode={episode} unrepeatable={unrepeatable} />
        </div>
      </div>
    </>
  );
}

/** What comes near is drawn then, and moves what is beside it: until that is over, or somebody scrolls, the turn stays. */
const settlingMs = 1000;

function seeTurn(turn: number): void {
  const element = document.getElementById(`turn-${turn + 1}`);
  if (!element) return;
  const see = (): void => {
    const { top, bottom } = element.getBoundingClientRect();
    element.scrollIntoView({ block: top > innerHeight || bottom < 0 ? 'start' : 'nearest' });
  };
  see();
  const observer = new ResizeObserver(see);
  observer.observe(element.parentElement!);
  const stop = (): void => observer.disconnect();
  setTimeout(stop, settlingMs);
  for (const kind of ['wheel', 'touchmove', 'keydown']) addEventListener(kind, stop, { once: true });
}

function summaryOf(
  { success, outcome, turns, calls, stop }: ShownEpisode,
  { roles }: GroupOutline,
  member: number,
) {
  const solo = roles.length === 1;
  const role = roles[0] ?? '';
  return (
    <>
      {solo && (
        <>
          <Mark member={member} success={success[role] ?? false} /> {success[role] ? 'succeeded' : 'failed'} ·
          return {number(outcome[role])} ·{' '}
        </>
      )}
      {plural(turns.length, 'turn')}
      {calls.length !== turns.length && ` · ${plural(calls.length, 'call')}`}
      {stop !== 'done' && ` · ${stop}`}
      {!solo && roles.map((name) => ` · ${oneLine(name, 24)} ${number(outcome[name])}`).join('')}
    </>
  );
}
