/** Expressions that an agent writes: parsed by precedence climbing, never run as code. What operators mean is said elsewhere. */

export type Expression =
  | { readonly number: number }
  | { readonly name: string }
  | { readonly operator: string; readonly operands: readonly Expression[] };

export interface Grammar {
  /** Infix operators, those that bind least first; all group to the left. */
  readonly infix: readonly (readonly string[])[];
  /** Prefix operators, and the level of `infix` that their operand begins at; beyond the last one for a single operand. */
  readonly prefix?: Readonly<Record<string, number>>;
  readonly names?: readonly string[];
}

/** Longer ones are no expressions; deep nesting would otherwise exhaust the stack. */
const MOST_TOKENS = 200;
const TOKEN = /\s*(\d{1,6}|[a-z]+|[<>!]=|[-+*/%<>=()])/y;

/** The tokens of a text; undefined where something else stands in it. */
export function tokensOf(text: string): readonly string[] | undefined {
  const tokens: string[] = [];
  const trimmed = text.trim();
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < trimmed.length; ) {
    const token = TOKEN.exec(trimmed)?.[1];
    if (token === undefined || tokens.length === MOST_TOKENS) return undefined;
    tokens.push(token);
  }
  return tokens;
}

/** The expression that `tokens` spell in this grammar; undefined where they spell none. */
export function parseExpression(tokens: readonly string[], grammar: Grammar): Expression | undefined {
  let place = 0;

  const infix = (level: number): Expression | undefined => {
    const operators = grammar.infix[level];
    if (operators === undefined) return operand();
    let left = infix(level + 1);
    while (left !== undefined && operators.includes(tokens[place] ?? '')) {
      const operator = tokens[place++]!;
      const right = infix(level + 1);
      left = right && { operator, operands: [left, right] };
    }
    return left;
  };

  const operand = (): Expression | undefined => {
    const token = tokens[place++];
    if (token === undefined) return undefined;
    if (grammar.prefix && Object.hasOwn(grammar.prefix, token)) {
      const inner = infix(grammar.prefix[token]!);
      return inner && { operator: token, operands: [inner] };
    }
    if (token === '(') {
      const inner = infix(0);
      return tokens[place++] === ')' ? inner : undefined;
    }
    if (/^\d/.test(token)) return { number: Number(token) };
    return grammar.names?.includes(token) ? { name: token } : undefined;
  };

  const whole = infix(0);
  return place === tokens.length ? whole : undefined;
}

/** The numbers of an expression, from left to right. */
export function numbersIn(expression: Expression): readonly number[] {
  if ('number' in expression) return [expression.number];
  return 'name' in expression ? [] : expression.operands.flatMap(numbersIn);
}
