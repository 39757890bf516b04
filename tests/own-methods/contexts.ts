/** A context of a user: CaveAgent's two tiers of compaction. */

import { type Call, defineContext, type Part, user, z } from 'turnwise';

/** `from`: the first act that is still shown; `folded`: whether the results before the latest ones are left out. */
type Cave = {
  readonly folded: boolean;
  readonly failures: number;
  readonly from: number;
  readonly summary: string | null;
};

/** Failed summaries after which no more are asked for. */
const MOST_FAILURES = 3;

/**
 * CaveAgent, arXiv 2601.01569: variables live in the runtime of the environment, so the conversation may be cut. Over a share of
 * the budget old results are left out; where that is not enough, the older half becomes a summary.
 */
export const cave = defineContext({
  name: 'cave',
  summary: 'old results left out, then the older half as a summary',
  options: z.strictObject({
    compactAt: z
      .number()
      .positive()
      .max(1)
      .default(0.8)
      .describe('Share of the budget that a prompt may have'),
    intact: z.int().min(0).default(6).describe('Latest results that are never left out'),
    fewest: z.int().min(1).default(4).describe('Acts that a summary leaves as they are'),
  }),
  start: (): Cave => ({ folded: false, failures: 0, from: 0, summary: null }),
  async window(view, ask) {
    const { compactAt, intact, fewest } = view.options;
    const acts = view.calls.filter(({ purpose }) => purpose === 'act');
    const conversation = ({ folded, from, summary }: Cave): { readonly parts: readonly Part[] } => {
      const kept = acts.filter(({ id }) => id >= from);
      const shown = ({ id, messages }: Call, place: number): readonly Part[] =>
        folded && place > 0 && place < kept.length - intact
          ? messages.map((message) => ({ ...message, content: '[result omitted]' }))
          : [{ shown: id }];
      const head: Part[] = summary === null ? [] : [{ shown: acts[0]!.id }, user(summary)];
      const turns = kept.flatMap((call, place): Part[] => [...shown(call, place), { call: call.id }]);
      return { parts: [...head, ...turns, ...view.fresh] };
    };
    const isLong = (state: Cave): boolean => view.tokens(conversation(state)) > compactAt * view.budget;
    let state: Cave = isLong(view.state) ? { ...view.state, folded: true } : view.state;
    if (isLong(state) && state.failures < MOST_FAILURES && acts.length > fewest) {
      const call = await ask('summarize', {
        parts: [...conversation(state).parts, user('Summarize the older part. Variables persist.')],
      });
      const left = Math.max(Math.ceil(acts.length / 2), fewest);
      state =
        call.finish === 'stop'
          ? { folded: false, failures: 0, from: acts.at(-left)!.id, summary: call.text }
          : { ...state, failures: state.failures + 1 };
    }
    return view.tokens(conversation(state)) > view.budget
      ? { stop: 'context-overflow' }
      : { conversation: conversation(state), state };
  },
  script: () => 'nothing new',
});
