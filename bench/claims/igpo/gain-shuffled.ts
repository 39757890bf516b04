/** A placebo: IGPO with the gains of each group dealt out anew to its turns. */

import { defineRecipe } from 'turnwise';
import { type FoundFacts, truthProbabilities } from 'turnwise/recipes';

const shuffled: FoundFacts = {
  fields: truthProbabilities.fields,
  async find(trainer, trajectories) {
    const facts_IK = await truthProbabilities.find(trainer, trajectories);
    const rng = trainer.rng('shuffled gains');
    const dealt = trajectories.map(({ turns }) => turns.map(() => 0));
    for (const groupId of new Set(trajectories.map((one) => one.groupId))) {
      const members = [...trajectories.keys()].filter((index) => trajectories[index]!.groupId === groupId);
      const places = members.flatMap((index) => facts_IK[index]!.slice(1).map((_, k) => [index, k] as const));
      const gains = places.map(([index, k]) => {
        const [before, after] = [facts_IK[index]![k], facts_IK[index]![k + 1]];
        return Math.log(after?.answerProbability ?? 1) - Math.log(before?.answerProbability ?? 1);
      });
      for (const [index, k] of places) dealt[index]![k] = gains.splice(rng.int(gains.length), 1)[0]!;
    }
    return dealt.map((gains) => gains.map((informationGain) => ({ informationGain })));
  },
};

export const gainShuffled = defineRecipe({
  name: 'gain-shuffled',
  summary: 'igpo with the gains of a group shuffled over its turns',
  needs: { truth: true },
  turnFacts: shuffled,
  settings: { credit: { method: 'igpo' } },
});
