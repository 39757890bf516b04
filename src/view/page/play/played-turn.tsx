/** A turn that was just played: each token with its probability, and what else was likely there. */

import type { PlayEvent } from '../../play/messages.ts';
import { share } from '../text/format.ts';
import { oneLine, safeText } from '../text/safe-text.ts';
import { TokenText } from '../tokens/token-text.tsx';

const mostPlaces = 48;
const authors = { policy: 'policy', person: 'you', record: 'recorded', other: 'another player' } as const;

export function PlayedTurn({ turn }: { readonly turn: Extract<PlayEvent, { readonly kind: 'turn' }> }) {
  const { by, player, text, pieces, joint, ids, logprobs, top = [] } = turn;
  return (
    <div class={`call ${by}`}>
      <p class="call-head">
        <span class="turn-number">{turn.turn + 1}</span>
        <span class="ink2">{player === undefined ? authors[by] : oneLine(player, 40)}</span>
      </p>
      <div class="wrote">
        {pieces ? (
          <TokenText
            label={`Tokens of turn ${turn.turn + 1}`}
            pieces={pieces}
            joint={joint}
            ids={ids}
            logprobs={logprobs}
            untrained={undefined}
            scale="surprise"
          />
        ) : (
          <code>{safeText(text)}</code>
        )}
        {top.length > 0 && pieces && (
          <ol class="likely" aria-label="What was likely">
            {top.slice(0, mostPlaces).map((choices, place) => (
              <li key={place}>
                <ul>
                  {choices.map(({ piece, logprob }, order) => {
                    const p = Math.exp(logprob ?? Number.NEGATIVE_INFINITY);
                    return (
                      <li key={order} class={piece === pieces[place] ? 'taken' : ''}>
                        <code>{oneLine(piece, 16) || '(nothing)'}</code>
                        <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
                          <rect width={100 * p} height="6" />
                        </svg>
                        <span>{share(p)}</span>
                      </li>
                    );
                  })}
                </ul>
              </li>
            ))}
          </ol>
        )}
      </div>
    </div>
  );
}
