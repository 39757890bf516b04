/** What does a checkpoint do, and how sure is it? And what would have happened, had a turn been another? */

import type { PlayRequest } from '../../play/messages.ts';
import type { GroupOutline, RunOverview } from '../../shapes.ts';
import { runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import { useKeys } from '../navigation/keys.ts';
import { episodeAddress, placeName } from '../navigation/places.ts';
import { address, query, show } from '../navigation/router.ts';
import { Choice } from '../parts/choice.tsx';
import { Link } from '../parts/link.tsx';
import { Shell } from '../parts/shell.tsx';
import { Failed } from '../parts/states.tsx';
import { number } from '../text/format.ts';
import { oneLine, safeText } from '../text/safe-text.ts';
import { Controls } from './controls.tsx';
import { PlayedTurn } from './played-turn.tsx';
import { usePlay } from './use-play.ts';

export function PlayPage({ run }: { readonly run: string }) {
  const { value: overview, problem } = useLoaded<RunOverview>(runPath(run));
  const up = address('runs', run);
  return (
    <Shell crumbs={[{ label: run, to: up }, { label: 'play' }]} problem={problem}>
      {overview && <Body overview={overview} />}
    </Shell>
  );
}

/** What is asked for is in the address, so that it can be asked for again. */
function requestOf(run: string, checkpoints: readonly number[]): PlayRequest {
  const text = (name: string): string | undefined => query.value.get(name) ?? undefined;
  const whole = (name: string): number => Math.max(0, Math.floor(Number(text(name) ?? 0)) || 0);
  const split = (['train', 'validation', 'test'] as const).find((one) => one === text('split')) ?? 'test';
  const from = text('from');
  const label = text('label');
  return {
    run,
    checkpoint: text('step') === undefined ? (checkpoints.at(-1) ?? 0) : whole('step'),
    split,
    task: whole('task'),
    attempt: whole('attempt'),
    ...(from !== undefined && {
      from: {
        place: from,
        group: whole('group'),
        member: whole('member'),
        turns: whole('turns'),
        ...(label !== undefined && { label }),
      },
    }),
  };
}

function Body({ overview }: { readonly overview: RunOverview }) {
  const { name, checkpoints } = overview;
  const request = requestOf(name, checkpoints);
  const { events, problem, move } = usePlay(JSON.stringify(request));
  const opened = events.find((event) => event.kind === 'open');
  const last = events.at(-1);
  const end = last?.kind === 'end' ? last : undefined;
  const state = last?.kind === 'state' && !last.replayed && last.player === undefined ? last : undefined;
  const picture = events.findLast((event) => event.kind === 'state')?.picture;
  const again = (): void => show({ attempt: request.attempt + 1 });
  useKeys([
    { key: 's', does: 'sample one turn', act: () => state && move({ kind: 'sample' }) },
    { key: 'p', does: 'let it play on', act: () => state && move({ kind: 'rest' }) },
    { key: 'a', does: 'play again', act: again },
  ]);
  const { from } = request;
  return (
    <>
      <div class="title">
        <div>
          <h1 dir="auto">{opened ? oneLine(opened.task, 120) : 'Play'}</h1>
          <p class="ink2">
            {from ? (
              <>
                From turn {from.turns + 1} of{' '}
                <Link to={episodeAddress({ run: name, ...from }, from.member)}>
                  {placeName(from.place)}, group {from.group}, member {from.member}
                </Link>
              </>
            ) : (
              `${request.split} task ${request.task}`
            )}
            {opened && ` · ${oneLine(opened.world, 40)} · checkpoint ${opened.checkpoint}`}
          </p>
        </div>
        <div class="tools">
          <Choices request={request} checkpoints={checkpoints} />
          <button type="button" onClick={again}>
            Again <kbd>a</kbd>
          </button>
        </div>
      </div>
      {problem && <Failed problem={problem} />}
      <div class="main-and-side">
        <section class="card flush conversation" aria-label="Episode">
          {events.length === 0 && !problem && (
            <p class="empty ink2" role="status">
              Opening the checkpoint …
            </p>
          )}
          {events.map((event, index) =>
            event.kind === 'state' ? (
              <div key={index} class="call">
                {event.messages.map((message, place) => (
                  <div key={place} class={`message ${message.role === 'user' ? 'user' : 'other'}`}>
                    <span class="ink3 small who">{oneLine(message.role, 24)}</span>
                    <div class="text" dir="auto">
                      {safeText(message.content.text)}
                    </div>
                  </div>
                ))}
              </div>
            ) : event.kind === 'turn' ? (
              <PlayedTurn key={index} turn={event} />
            ) : null,
          )}
          {state && <Controls state={state} onMove={move} />}
          {end && (
            <footer class="episode-end">
              <span>
                <b>{Object.values(end.success).some(Boolean) ? 'Succeeded' : 'Failed'}</b>{' '}
                <span class="ink2">
                  · return{' '}
                  {Object.values(end.outcome)
                    .map((value) => number(value))
                    .join(', ')}{' '}
                  · end: {end.stop}
                  {end.differs !== undefined &&
                    end.differs.length > 0 &&
                    ` · not as recorded: another ${end.differs.join(' and ')}`}
                  {end.failure !== undefined && ` — ${oneLine(end.failure, 300)}`}
                </span>
              </span>
              <button type="button" onClick={again}>
                Again
              </button>
            </footer>
          )}
        </section>
        <div class="side-column">
          <section class="card" aria-label="State">
            <h2>State</h2>
            {picture === undefined ? (
              opened && <p class="ink2">This environment draws no picture of its state.</p>
            ) : (
              <pre class="picture">{safeText(picture)}</pre>
            )}
          </section>
          {from && <Recorded request={request} from={from} />}
        </div>
      </div>
    </>
  );
}

function Choices({
  request,
  checkpoints,
}: {
  readonly request: PlayRequest;
  readonly checkpoints: readonly number[];
}) {
  return (
    <>
      <Choice
        label="checkpoint"
        value={String(request.checkpoint)}
        options={checkpoints.map((step) => [step, String(step)])}
        onChange={(step) => show({ step })}
      />
      {request.from === undefined && (
        <>
          <Choice
            label="Tasks"
            isUnseen
            value={request.split}
            options={['train', 'validation', 'test'].map((split) => [split, split])}
            onChange={(split) => show({ split })}
          />
          <label class="field">
            <span class="ink2">task</span>
            <input
              class="short"
              inputMode="numeric"
              value={String(request.task)}
              onChange={({ currentTarget }) => show({ task: currentTarget.value })}
            />
          </label>
        </>
      )}
    </>
  );
}

interface RecordedProps {
  readonly request: PlayRequest;
  readonly from: NonNullable<PlayRequest['from']>;
}

/** What happened then, to compare with. */
function Recorded({ request, from }: RecordedProps) {
  const { place, group, member, label } = from;
  const tail = label === undefined ? '' : `?label=${label}`;
  const path = runPath(request.run, `/places/${place}/groups/${group}${tail}`);
  const { value } = useLoaded<GroupOutline>(path);
  const own = value?.members.find((one) => one.member === member);
  if (!own) return null;
  return (
    <section class="card" aria-label="What happened">
      <h2>What happened</h2>
      <p class="ink2">
        {own.success ? 'Succeeded' : 'Failed'} · return {number(own.return)}
      </p>
      <ol class="happened">
        {own.turns.map(({ action, reward }, turn) => (
          <li key={turn} class={turn === from.turns ? 'here' : turn < from.turns ? 'ink3' : ''}>
            <code>{oneLine(action, 60) || '(nothing)'}</code>
            {reward !== null && reward !== 0 && <span class="ink2"> reward {number(reward)}</span>}
          </li>
        ))}
      </ol>
    </section>
  );
}
