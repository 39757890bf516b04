import { expect, test } from 'vitest';
import { madeGroup, madeKey, playedEpisode } from '../../core/testing/made-episodes.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { trainConfigSchema } from '../config/config.ts';
import { remember } from './replay.ts';

const config = trainConfigSchema.parse({ replay: { size: 3 } });

test('what a curation inserted is not remembered again', () => {
  const success = playedEpisode(0, [{}], { key: madeKey({ step: 1 }) });
  const first = remember({ kept: [] }, roleGroups([madeGroup(success)]), config);
  expect(first.map(({ episode }) => episode.step)).toEqual([1]);
  const played = [1, 2].map((member) => playedEpisode(member, [{}], { key: madeKey({ step: 2, member }) }));
  const joined = { step: 2, group: 0, members: [...played, success] };
  const kept = remember({ kept: first }, roleGroups([joined]), config);
  expect(kept.map(({ episode }) => [episode.step, episode.member])).toEqual([
    [1, 0],
    [2, 1],
    [2, 2],
  ]);
});
