/** Grammars of constraints over one vocabulary: each is compiled once, and walked by every completion that is held to it. */

import type { CompiledGrammar, GrammarCompiler, GrammarMatcher } from '@mlc-ai/web-xgrammar';
import type { Constraint, Form, TokenTexts } from '../../../core/constraint.ts';
import { TurnwiseError } from '../../../core/errors.ts';
import { forgetGrammarLibrary, grammarLibrary } from './node/grammar-library.ts';
import type { Walk } from './walk.ts';

/** Constraints whose grammars are kept. */
const MOST_KEPT = 32;
/** Characters of a constraint: compiling stops all sampling of the thread, and takes longer than a schema grows. */
const LONGEST = 65_536;

export class Grammars {
  /** Logits of the model. */
  readonly #vocabulary: number;
  #texts: TokenTexts | undefined;
  /** By the ids that end a completion, which are always the same for a model. */
  readonly #compilers: Map<string, Promise<GrammarCompiler>> = new Map();
  /** In order of last use. */
  readonly #compiled: Map<string, Promise<CompiledGrammar>> = new Map();

  constructor(vocabulary: number) {
    this.#vocabulary = vocabulary;
  }

  /** What the tokens write, before the first constraint. */
  learnTexts(texts: TokenTexts): void {
    this.#texts = texts;
    this.#forget();
  }

  /** @throws TurnwiseError `schema-unsupported` */
  async walk({ forms, trigger, once }: Constraint, stopIds: readonly number[]): Promise<Walk> {
    const constraint: Constraint = { forms, ...(trigger !== undefined && { trigger, once: once ?? false }) };
    const key = JSON.stringify([constraint, stopIds]);
    if (key.length > LONGEST)
      throw unsupported(constraint, `${key.length} characters`, `${LONGEST} characters`);
    try {
      const compiled = this.#compiled.get(key) ?? this.#compile(constraint, stopIds);
      this.#compiled.delete(key);
      this.#compiled.set(key, compiled);
      const [oldest] = this.#compiled.keys();
      if (this.#compiled.size > MOST_KEPT) this.#compiled.delete(oldest!);
      const { GrammarMatcher } = grammarLibrary();
      const matcher = await GrammarMatcher.createGrammarMatcher(await compiled);
      return new GrammarWalk(matcher, this.#vocabulary);
    } catch (cause) {
      if (TurnwiseError.isInstance(cause)) throw cause;
      this.#forget();
      forgetGrammarLibrary();
      throw unsupported(constraint, undefined, undefined, cause);
    }
  }

  async #compile(constraint: Constraint, stopIds: readonly number[]): Promise<CompiledGrammar> {
    const made = this.#compilers.get(stopIds.join()) ?? this.#createCompiler(stopIds);
    this.#compilers.set(stopIds.join(), made);
    const compiler = await made;
    const [form] = constraint.forms;
    const isAlone = constraint.forms.length === 1 && constraint.trigger === undefined;
    if (isAlone && form!.begin === '' && form!.end === '')
      return compiler.compileJSONSchema(JSON.stringify(form!.schema), ...notationOf(form!));
    return compiler.compileStructuralTag({ type: 'structural_tag', format: await formatOf(constraint) });
  }

  async #createCompiler(stopIds: readonly number[]): Promise<GrammarCompiler> {
    if (this.#texts === undefined) throw new Error('the texts of the tokens are not known');
    const { TokenizerInfo, GrammarCompiler } = grammarLibrary();
    const { texts, bytes } = this.#texts;
    const info = await TokenizerInfo.createTokenizerInfo([...texts], bytes, false, this.#vocabulary, [
      ...stopIds,
    ]);
    return GrammarCompiler.createGrammarCompiler(info, false);
  }

  #forget(): void {
    this.#compilers.clear();
    this.#compiled.clear();
  }
}

/**
 * How JSON is written: in one line, since a small model that may write any white space writes nothing else for ever; with what
 * the schema allows besides its properties.
 */
const notationOf = ({ notation = 'spaced' }: Form): [boolean, number, [string, string], boolean] => [
  false,
  -1,
  notation === 'compact' ? [',', ':'] : [', ', ': '],
  false,
];

type StructuralFormat = Record<string, unknown>;

async function formatOf({ forms, trigger, once = false }: Constraint): Promise<StructuralFormat> {
  const tags = await Promise.all(forms.map(tagOf));
  if (trigger === undefined) return tags.length === 1 ? tags[0]! : { type: 'or', elements: tags };
  return { type: 'triggered_tags', triggers: [trigger], tags, stop_after_first: once };
}

async function tagOf(form: Form): Promise<StructuralFormat> {
  const { Grammar } = grammarLibrary();
  const grammar = await Grammar.fromJSONSchema(JSON.stringify(form.schema), ...notationOf(form));
  const content = { type: 'grammar', grammar: grammar.toString() };
  grammar.dispose();
  return form.begin === '' && form.end === ''
    ? content
    : { type: 'tag', begin: form.begin, content, end: form.end };
}

/** A completion along a grammar. What may come next is asked for when it is needed: it takes up to a millisecond. */
class GrammarWalk implements Walk {
  readonly #matcher: GrammarMatcher;
  readonly #vocabulary: number;
  #next: Int32Array | undefined;

  constructor(matcher: GrammarMatcher, vocabulary: number) {
    this.#matcher = matcher;
    this.#vocabulary = vocabulary;
  }

  get ended(): boolean {
    return this.#matcher.isTerminated();
  }

  async ready(): Promise<void> {
    this.#next ??= idsIn(await this.#matcher.getNextTokenBitmask(), this.#vocabulary);
  }

  next(): Int32Array {
    return this.#next!;
  }

  forced(): undefined {
    return undefined;
  }

  take(id: number): void {
    this.#next = undefined;
    if (!this.#matcher.acceptToken(id))
      throw new Error(`the grammar does not take token ${id}, which it allowed`);
  }

  free(): void {
    this.#matcher.dispose();
  }
}

/** The ids whose bits are set, ascending. Bits behind the last id say nothing. */
function idsIn(mask: Int32Array, vocabulary: number): Int32Array {
  const ids = new Int32Array(vocabulary);
  let count = 0;
  for (let id = 0; id < vocabulary; id++) if ((mask[id >> 5]! >>> (id & 31)) & 1) ids[count++] = id;
  return ids.slice(0, count);
}

function unsupported(
  { forms }: Constraint,
  seen: string = JSON.stringify(forms.map(({ schema }) => schema)).slice(0, 200),
  allowed?: string,
  cause?: unknown,
): TurnwiseError {
  return new TurnwiseError('schema-unsupported', {
    what: 'No grammar can be made of the JSON Schema, so nothing can be held to it',
    seen,
    ...(allowed !== undefined && { allowed: `at most ${allowed}` }),
    next: 'Use plain types, properties, items, enum, const, anyOf and $ref to $defs',
    ...(cause !== undefined && { cause }),
  });
}
