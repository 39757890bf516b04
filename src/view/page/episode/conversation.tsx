/** The conversation as a person reads it: what was read, what was written, token by token, and what it earned. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type {
  CreditAnswer,
  MemberOutline,
  ShownCall,
  ShownEpisode,
  ShownMessage,
  ShownTurn,
} from '../../shapes.ts';
import { bundleStart } from '../data/bundle.ts';
import { choicesAt } from '../group/prefix-tree.ts';
import { type GroupAt, textQuery } from '../navigation/places.ts';
import { query } from '../navigation/router.ts';
import { LongText } from '../parts/long-text.tsx';
import { Near } from '../parts/near.tsx';
import { duration, number, plural, signed } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';
import type { Scale } from '../tokens/scales.ts';
import { TokenText } from '../tokens/token-text.tsx';
import { Choices } from './choices.tsx';
import { Find } from './find.tsx';
import { tokenAdvantages } from './token-advantages.ts';

interface ConversationProps {
  readonly at: GroupAt;
  readonly member: number;
  readonly role: string;
  readonly episode: ShownEpisode;
  /** Of the members, for the role. */
  readonly outline: readonly MemberOutline[];
  readonly scale: Scale;
  /** Where its numbers come from, where they were not stored. */
  readonly scaleNote: string | undefined;
  readonly onScale: (scale: Scale) => void;
  readonly chosen: number | undefined;
  /** The turn at which it leaves the majority of its group. */
  readonly leaves: number | undefined;
  readonly ids: boolean;
  readonly credit: CreditAnswer | undefined;
  readonly onChoose: (turn: number) => void;
  readonly children: ComponentChildren;
}

/** So many calls are in the document at once; of longer conversations those near the screen. */
const few = 40;
const usualHeight = 150;

export function Conversation(props: ConversationProps) {
  const { at, member, episode, scale, onScale, children } = props;
  const { calls, turns, closing } = episode;
  const missing = {
    ...(bundleStart !== undefined &&
      calls.every(({ entropies }) => entropies === undefined) && {
        entropy: 'The run stored no entropies: recipes that need them do',
      }),
    ...(props.credit === undefined &&
      turns.every(({ advantage }) => advantage === null) && {
        advantage: 'No credit was computed: choose a method',
      }),
  };
  const turnOf = new Map<number, number>();
  for (const [index, turn] of turns.entries()) for (const id of turn.calls) turnOf.set(id, index);
  // Who searches walks through all of it.
  const [searched, searchAll] = useState(false);
  const isWhole = calls.length <= few || searched || query.value.has('find');
  const withoutCalls = turns.flatMap((turn, index) => (turn.calls.length === 0 ? [{ turn, index }] : []));
  return (
    <section class="card flush conversation" aria-label="Conversation">
      <Find
        scale={scale}
        missing={missing}
        onScale={onScale}
        isWhole={isWhole}
        onSearch={() => searchAll(true)}
      />
      {props.scaleNote !== undefined && (
        <p class="scale-note ink2 small" role="status">
          {props.scaleNote}
        </p>
      )}
      <div role="feed" aria-label="Calls">
        {calls.map((call, index) => {
          const turn = turnOf.get(call.id);
          const isLast = lastCallOf(turns[turn ?? -1]) === call.id;
          return (
            <Near
              key={call.id}
              tag="article"
              {...(isLast && turn !== undefined && { id: `turn-${turn + 1}` })}
              aria-label={turn === undefined ? 'Call' : `Turn ${turn + 1}`}
              aria-posinset={index + 1}
              aria-setsize={calls.length}
              height={usualHeight}
              always={isWhole || (turn !== undefined && turn === props.chosen)}
              draw={() => <CallBlock {...props} call={call} index={index} turn={turn} isLast={isLast} />}
            />
          );
        })}
      </div>
      {withoutCalls.map(({ turn, index }) => (
        <p key={index} class="message">
          <span class="turn-number">{index + 1}</span> {turn.role}:{' '}
          <code>{oneLine(turn.action ?? '', 200)}</code>
        </p>
      ))}
      {Object.entries(closing).flatMap(([role, messages]) =>
        messages.map((message, place) => (
          <Message
            key={`${role} ${place}`}
            message={message}
            more={textQuery(at, member, `closing/${role}/${place}`)}
            note="after the end"
          />
        )),
      )}
      {children}
    </section>
  );
}

const lastCallOf = (turn: ShownTurn | undefined): number | undefined => turn?.calls.at(-1);

interface CallBlockProps extends ConversationProps {
  readonly call: ShownCall;
  readonly index: number;
  readonly turn: number | undefined;
  readonly isLast: boolean;
}

/** Why a call begins a context of its own. */
const paths: Readonly<Record<string, string>> = {
  window: 'a new window: earlier turns were left out',
  asked: 'asked aside',
  rewritten: 'earlier messages were rewritten',
  dropped: 'earlier messages were dropped',
  'tools-changed': 'other tools',
  'system-changed': 'another system message',
  'foreign-words': 'words that the policy did not write',
};

function CallBlock(props: CallBlockProps) {
  const { at, member, episode, outline, call, index, turn, isLast, chosen, leaves, role, onChoose } = props;
  const its = turn === undefined ? undefined : episode.turns[turn];
  const isChosen = turn !== undefined && turn === chosen && isLast;
  const parts = turn !== undefined && turn === leaves && isLast;
  const place = outline.findIndex((one) => one.member === member);
  const choices =
    isLast && turn !== undefined && its?.role === role
      ? choicesAt(outline, place, turnOfRole(episode, role, turn))
      : [];
  return (
    <div class={`call${isChosen ? ' chosen' : ''}${parts ? ' parts' : ''}`}>
      {call.newPath !== undefined && <p class="path ink2 small">{paths[call.newPath] ?? call.newPath}</p>}
      {call.messages.map((message, messageIndex) => (
        <Message
          key={messageIndex}
          message={message}
          more={textQuery(at, member, `calls/${index}/messages/${messageIndex}`)}
        />
      ))}
      <CallHead {...props} its={its} />
      <Completion {...props} its={its} />
      {its && isLast && its.environmentMs > 1 && (
        <p class="after ink3 small">environment {duration(its.environmentMs / 1000)}</p>
      )}
      {choices.length > 1 && (parts || isChosen) && (
        <Choices at={at} edges={choices} members={outline} member={member} />
      )}
      {turn !== undefined && isLast && choices.length > 1 && !parts && !isChosen && (
        <button type="button" class="quiet small aside" onClick={() => onChoose(turn)}>
          {plural(choices.length, 'choice')} in the group
        </button>
      )}
    </div>
  );
}

/** Turns of all roles are counted together; those of one role as its own. */
function turnOfRole({ turns }: ShownEpisode, role: string, turn: number): number {
  return turns.slice(0, turn).filter((one) => one.role === role).length;
}

function CallHead({
  call,
  turn,
  isLast,
  its,
  credit,
  member,
  episode,
  onChoose,
}: CallBlockProps & { readonly its: ShownTurn | undefined }) {
  const own = credit?.members.find((one) => one.member === member && one.role === call.role);
  const order = turn === undefined ? 0 : turnOfRole(episode, call.role, turn);
  const advantage = own ? own.turns[order]?.advantage : its?.advantage;
  return (
    <p class="call-head">
      {turn !== undefined && isLast ? (
        <button
          type="button"
          class="turn-number"
          aria-label={`Turn ${turn + 1}`}
          onClick={() => onChoose(turn)}
        >
          {turn + 1}
        </button>
      ) : (
        <span class="turn-number" />
      )}
      <span class="ink2">
        {oneLine(call.role, 24)}
        {call.purpose !== 'act' && ` · ${oneLine(call.purpose, 24)}`}
        {call.trainable !== true && ` · ${oneLine(call.by, 40)}`}
      </span>
      <span class="ink3">
        {plural(call.tokens, 'token')} · {duration(call.policyMs / 1000)}
      </span>
      <span class="right">
        {call.surprise !== null && <span class="ink2">surprise {number(call.surprise, 2)}</span>}{' '}
        {call.entropy !== null && <span class="ink2">entropy {number(call.entropy, 2)}</span>}{' '}
        {its?.reward !== null && its?.reward !== undefined && its.reward !== 0 && isLast && (
          <span class="ink2">reward {signed(its.reward)}</span>
        )}{' '}
        {isLast && <b>A {signed(advantage)}</b>}
      </span>
    </p>
  );
}

function Completion(props: CallBlockProps & { readonly its: ShownTurn | undefined }) {
  const { at, member, episode, call, index, turn, its, isLast, scale, ids, credit } = props;
  const { pieces, reasoning, toolCalls = [], problem, trainable, finish } = call;
  const advantages = turn === undefined ? undefined : tokenAdvantages(episode, call, turn, credit, member);
  return (
    <div class="wrote">
      {reasoning && (
        <details>
          <summary>Reasoning</summary>
          <LongText cut={reasoning} />
        </details>
      )}
      {pieces ? (
        <TokenText
          label={turn === undefined ? 'Tokens' : `Tokens of turn ${turn + 1}`}
          pieces={pieces}
          joint={episode.joint}
          ids={call.ids}
          logprobs={call.logprobs}
          entropies={call.entropies}
          advantages={advantages}
          untrained={trainable === true ? undefined : trainable}
          scale={scale}
        />
      ) : (
        <LongText cut={call.text} more={textQuery(at, member, `calls/${index}/text`)} />
      )}
      {pieces && pieces.length < call.tokens && (
        <p class="ink2 small">
          The first {pieces.length} of {plural(call.tokens, 'token')}; the raw record has all.
        </p>
      )}
      {ids && call.ids.length > 0 && <pre class="ids">{call.ids.join(' ')}</pre>}
      {problem !== undefined && <p class="red small">{oneLine(problem, 300)}</p>}
      {its?.valid === false && isLast && <p class="red small">The environment did not accept it.</p>}
      {call.choices !== undefined && (
        <p class="ink3 small">
          Chosen among {plural(call.choices, 'completion')}; forced tokens have probability 1.
        </p>
      )}
      {finish === 'length' && call.sampling.maxTokens !== 1 && (
        <p class="ink3 small">Cut at the length limit.</p>
      )}
      {toolCalls.map((tool, place) => (
        <details key={place} class="tool">
          <summary>
            calls <code>{oneLine(tool.name, 60)}</code>{' '}
            <span class="ink2">{oneLine(tool.arguments, 80)}</span>
          </summary>
          <pre>{oneLine(tool.arguments, 4000)}</pre>
        </details>
      ))}
    </div>
  );
}

interface MessageProps {
  readonly message: ShownMessage;
  readonly more: string;
  readonly note?: string;
}

function Message({ message, more, note }: MessageProps) {
  const { role, content, reasoning, toolCalls = [] } = message;
  return (
    <div class={`message ${['user', 'tool', 'system', 'assistant'].includes(role) ? role : 'other'}`}>
      <span class="ink3 small who">
        {oneLine(role, 24)}
        {note !== undefined && ` · ${note}`}
      </span>
      {reasoning && (
        <details>
          <summary>Reasoning</summary>
          <LongText cut={reasoning} />
        </details>
      )}
      <LongText cut={content} more={more} />
      {toolCalls.map((tool, place) => (
        <p key={place} class="small">
          calls <code>{oneLine(tool.name, 60)}</code> <span class="ink2">{oneLine(tool.arguments, 200)}</span>
        </p>
      ))}
    </div>
  );
}
