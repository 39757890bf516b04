/** One task's tree while it grows. It owns what its explorer keeps, and lets go of all of it when it is done. */

import { badDefinition, callDefinition } from '../../core/definition.ts';
import type { Episode, EpisodeKey, Place } from '../../core/episode.ts';
import { keyText, placeText } from '../../core/episode-key.ts';
import type { TurnwiseError } from '../../core/errors.ts';
import { Rng } from '../../core/rng.ts';
import { valueText } from '../../core/safe-text.ts';
import { type CollectOptions, episodeOf, type GroupToPlay } from '../collect.ts';
import type { EpisodeRequest, Keeper } from '../episode.ts';
import { type KeptPlace, startOf } from '../kept-place.ts';
import { openingOf } from '../turns/opening.ts';
import type { EpisodeTree, Expansion, Explorer } from './tree.ts';

export interface ExploreOptions extends CollectOptions {
  readonly explorer: Explorer;
  /** Whose explorer it is, for messages. Default: The explorer. */
  readonly subject?: string;
  /** What a critic says of prompts; asked after every round. Undefined: it cannot say. */
  readonly valuesOf?: (prompts: readonly (readonly number[])[]) => Promise<readonly (number | undefined)[]>;
}

/** A place that was kept, with the prompt there. */
export interface Prompted {
  readonly place: Place;
  readonly promptIds: Int32Array;
}

export class GrowingTree implements EpisodeTree {
  readonly members: number;
  readonly episodes: Episode[] = [];
  readonly kept: Place[] = [];
  readonly rounds: (readonly Expansion[])[] = [];
  readonly #request: GroupToPlay;
  readonly #explorer: Explorer;
  readonly #options: ExploreOptions;
  readonly #subject: string;
  readonly #rng: Rng;
  readonly #places = new Map<string, KeptPlace>();
  readonly #values = new Map<string, number>();
  /** Of the round under way, by episode. */
  #keeping: KeptPlace[][] = [];
  #asked = 0;
  #over = false;

  constructor(request: GroupToPlay, options: ExploreOptions) {
    const { members, drawsAs, step, group } = request;
    this.members = members;
    this.#request = request;
    this.#explorer = options.explorer;
    this.#subject = options.subject ?? 'The explorer';
    this.#options = options;
    this.#rng = Rng.of('branches', options.seed, drawsAs ?? step, group);
  }

  /** Bound, since explorers take trees apart. */
  readonly value = (place: Place): number | undefined => this.#values.get(placeText(place));

  /** Note what a critic said of a place. */
  setValue(place: Place, value: number): void {
    this.#values.set(placeText(place), value);
  }

  /** The episodes of the next round; none once the explorer is done. @throws TurnwiseError `definition-invalid`, `definition-failed` */
  ask(): EpisodeRequest[] {
    if (this.#over) return [];
    const expansions = callDefinition(this.#subject, () => this.#explorer.next(this, this.#rng));
    this.#keeping = [];
    if (expansions === 'done') return [];
    if (!Array.isArray(expansions)) {
      throw this.#wrong(valueText(expansions), 'an array of expansions, or "done"');
    }
    const episodes = expansions.flatMap((expansion) => this.#episodesOf(expansion));
    if (episodes.length > 0) this.rounds.push(expansions);
    return episodes;
  }

  /** Take in the episodes of the round, in the order in which they were asked for. Gives the places that came with them. */
  add(episodes: readonly Episode[]): Prompted[] {
    this.episodes.push(...episodes);
    const places = this.#keeping.flat();
    for (const { prefix } of places) this.kept.push(prefix.place);
    return places.flatMap(({ prefix: { place }, promptIds }) => (promptIds ? [{ place, promptIds }] : []));
  }

  /** Let go of every place, also of those that are still to come. */
  async dispose(): Promise<void> {
    this.#over = true;
    const places = [...this.#places.values()];
    this.#places.clear();
    await Promise.all(places.map((place) => place.dispose()));
  }

  #episodesOf({ from, members, turns, chance }: Expansion): EpisodeRequest[] {
    if (!isCount(members) || (turns !== undefined && !isCount(turns))) {
      throw this.#wrong(
        `${members} members${turns === undefined ? '' : ` of ${turns} turns`}`,
        'whole numbers from 1',
      );
    }
    const first = this.episodes[0]?.key;
    const twin = chance === 'same' && first ? { episode: first, transition: -1 } : undefined;
    const place = from === 'start' ? twin : from;
    return Array.from({ length: members }, (): EpisodeRequest => {
      const keeper = this.#keeper();
      return {
        ...episodeOf(this.#request, this.#asked++, this.#options),
        ...(place && { from: this.#find(place), chance: chance ?? 'same' }),
        ...(turns !== undefined && { turns }),
        keeper,
      };
    });
  }

  /** Places of one episode stand together, whenever they come. */
  #keeper(): Keeper {
    const own: KeptPlace[] = [];
    this.#keeping.push(own);
    return {
      prompts: this.#options.valuesOf !== undefined,
      keeps: (episode, transition) =>
        callDefinition(this.#subject, () => this.#explorer.keeps(episode, transition)),
      keep: (place) => {
        if (this.#over) return void place.dispose();
        own.push(place);
        this.#places.set(placeText(place.prefix.place), place);
      },
    };
  }

  #wrong(seen: string, allowed: string): TurnwiseError {
    return badDefinition(this.#subject, 'asks for episodes that cannot be played', seen, allowed);
  }

  #find(place: Place): KeptPlace {
    const { episode: key, transition } = place;
    const kept = this.#places.get(placeText(place));
    if (kept) return kept;
    const episode = this.episodes.find((other) => keyText(other.key) === keyText(key));
    if (episode === undefined || transition !== -1 || episode.branchedFrom) {
      const seen = `the place after transition ${transition} of episode ${keyText(key)}`;
      throw this.#wrong(seen, 'places of tree.kept, and after transition -1 of an episode that is no branch');
    }
    const { task, drawsAs } = this.#request;
    const drawn: EpisodeKey = drawsAs === undefined ? key : { ...key, step: drawsAs };
    return startOf({ place, calls: 0, outcome: {} }, () => openingOf(task, drawn, this.#options.seed));
  }
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value > 0;
