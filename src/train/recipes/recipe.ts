/** A recipe: a named composition of credit, objective and schedule, with its source and defaults. */

import type { z } from 'zod';
import type { Group } from '../../core/episode.ts';
import type { Json } from '../../core/json.ts';
import type { CreditField } from '../../credit/fields.ts';
import type { DecoderShape } from '../../model/decoder.ts';
import type { CollectOptions, GroupRequest } from '../../rollout/collect.ts';
import type { Block, Reads } from '../blocks.ts';
import type { TrainConfig, TrainSettings } from '../config.ts';
import type { Kept, Learn } from '../learn.ts';

export interface Recipe {
  readonly name: string;
  /** One line: what it does to the rewards and the loss. */
  readonly summary: string;
  /** Advantage and loss, a line each; `docs/methods.md` shows them as they are. */
  readonly formula: readonly string[];
  /** Ends the sentence "Use it when". */
  readonly use: string;
  /** Paper or other source. */
  readonly source: string;
  /** What the authors used, as they wrote it, where it is known; what runs here is in `settings`. */
  readonly authors: string;
  /** Whether it trains a value head. */
  readonly critic: boolean;
  /** What the environment must have. */
  readonly needs?: {
    readonly severalRoles?: boolean;
    readonly oneRole?: boolean;
    /** Roles that can all win: not a zero-sum game. */
    readonly cooperative?: boolean;
    /** A scripted expert. */
    readonly script?: boolean;
    /** Something that tells what should have been thought, and actions that can be told from thoughts. */
    readonly corrector?: boolean;
    /** Fields that the environment gives in `info.credit`, besides those that the credit method cannot do without. */
    readonly facts?: readonly CreditField[];
    /** Its roles, by name. */
    readonly roles?: readonly string[];
  };
  /**
   * Episodes that it plays, recorded ones where `data` names some and none are played, or both. Default: played ones.
   */
  readonly learnsFrom?: 'played' | 'either' | 'both';
  /** How episodes are played, where not each from the start. */
  readonly play?: (
    requests: readonly GroupRequest[],
    options: CollectOptions & { readonly branching: TrainConfig['branching'] },
  ) => Promise<Group[]>;
  /** What `play` reads of the configuration. */
  readonly playReads?: Block;
  /** What it remembers before its first step; `recorded` is what `data` names. Default: nothing. */
  readonly start?: (recorded: readonly Kept[]) => Json;
  /** How it learns, where not from the episodes of the step by policy gradient. */
  readonly learn?: Learn;
  /** What `learn` reads of the configuration. Default: what policy gradients on the episodes of the step read. */
  readonly reads?: Reads;
  /** The schema of `objective.options` there, strict and with defaults for all fields. */
  readonly lossOptions?: z.ZodType;
  /** Keeps a copy of the policy: the warm start as a reference, or a target network. */
  readonly frozen?: boolean;
  /** Critics beside the policy, on its own body. */
  readonly heads?: NonNullable<DecoderShape['extraHeads']>;
  /** Which of them the policy is improved by when it acts. */
  readonly actsBy?: readonly string[];
  /** Critics in a model of their own. */
  readonly criticHeads?: NonNullable<DecoderShape['extraHeads']>;
  readonly settings: TrainSettings;
}
