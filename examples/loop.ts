/**
 * Multi-turn reinforcement learning, all of it, in one file without imports.
 *
 * A policy crosses a frozen lake. Each turn it reads six words and writes one; only at the end does it learn whether it
 * arrived. It first copies a clumsy teacher and then gets better than the teacher by trying. Read from top to bottom:
 * 1 the world, 2 the policy, 3 the teacher, 4 an episode, 5 credit, 6 learning, 7 the loop.
 *
 *   node --experimental-strip-types examples/loop.ts
 */

// ---- 0. Chance: one seeded stream (mulberry32), so that every run is the same run.

let seed = 1;
function random(): number {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const dice = (n: number): number => Math.floor(random() * n);

// ---- 1. The world: a 4 x 4 lake with holes, a start and a goal. Every map is another task.

const SIZE = 4;
const TURNS = 12;
const ACTIONS = ['left', 'right', 'up', 'down'] as const;
const ROW_STEPS = [0, 0, -1, 1];
const COLUMN_STEPS = [-1, 1, 0, 0];
interface Lake {
  readonly holes: readonly boolean[];
  readonly start: number;
  readonly goal: number;
}

/** The cell that an action leads to; the edge stops it. */
function move(cell: number, action: number): number {
  const row = Math.floor(cell / SIZE) + ROW_STEPS[action]!;
  const column = (cell % SIZE) + COLUMN_STEPS[action]!;
  return row < 0 || column < 0 || row >= SIZE || column >= SIZE ? cell : row * SIZE + column;
}

/** Moves from each cell to the goal (breadth first); Infinity where there is no way. */
function distances({ holes, goal }: Lake): number[] {
  const moves = new Array<number>(SIZE * SIZE).fill(Infinity);
  moves[goal] = 0;
  for (const queue = [goal]; queue.length > 0; ) {
    const cell = queue.shift()!;
    for (let action = 0; action < 4; action++) {
      const next = move(cell, action);
      if (holes[next] || moves[next]! < Infinity) continue;
      moves[next] = moves[cell]! + 1;
      queue.push(next);
    }
  }
  return moves;
}

/** A solvable lake, at least three moves long. A tenth of all maps, chosen by a hash of the map, are never trained on. */
function drawLake(heldOut: boolean): Lake {
  for (;;) {
    const [start, goal] = [dice(SIZE * SIZE), dice(SIZE * SIZE)];
    const holes = Array.from(
      { length: SIZE * SIZE },
      (_, cell) => random() < 0.2 && cell !== start && cell !== goal,
    );
    const way = distances({ holes, start, goal })[start]!;
    let hash = start * 16 + goal;
    for (const hole of holes) hash = Math.imul(hash ^ Number(hole), 0x9e3779b1) ^ (hash >>> 13);
    if (way >= 3 && way < Infinity && ((hash >>> 0) % 10 === 0) === heldOut) return { holes, start, goal };
  }
}

/** What the policy may know: where the goal lies, and what is next to it. Side and content are one word, so each word
 *  means something by itself, and a small policy need not work out which number belongs to which side. */
function observe({ holes, goal }: Lake, cell: number): string[] {
  const rows = Math.floor(goal / SIZE) - Math.floor(cell / SIZE);
  const columns = (goal % SIZE) - (cell % SIZE);
  const sides = ACTIONS.map((side, action) => {
    const next = move(cell, action);
    return `${side}:${next === cell ? 'edge' : holes[next] ? 'hole' : next === goal ? 'goal' : 'free'}`;
  });
  return [`rows:${rows}`, `columns:${columns}`, ...sides];
}

// ---- 2. The policy: a language model with a window of seven words (its own last word and the six it reads now).
// hidden = tanh(bias + sum of the embeddings of the words), probabilities = softmax(output . hidden).

const OFFSETS = [-3, -2, -1, 0, 1, 2, 3];
const WORDS = [
  ...ACTIONS,
  'begin',
  ...OFFSETS.flatMap((offset) => [`rows:${offset}`, `columns:${offset}`]),
  ...ACTIONS.flatMap((side) => ['edge', 'hole', 'goal', 'free'].map((content) => `${side}:${content}`)),
];
const idOf = new Map(WORDS.map((word, id) => [word, id]));
const WINDOW = 7;
const WIDTH = 64;
const BIAS = WORDS.length * WIDTH;
const OUTPUT = BIAS + WIDTH;
const PARAMETERS = OUTPUT + ACTIONS.length * WIDTH;

let weights = new Float64Array(PARAMETERS);
const hidden = new Float64Array(WIDTH);

/** Probabilities of the four actions after `tokens[..end]`. Leaves the activations in `hidden` for the gradient. */
function predict(tokens: readonly number[], end: number): number[] {
  for (let i = 0; i < WIDTH; i++) {
    let sum = weights[BIAS + i]!;
    for (let t = end - WINDOW; t < end; t++) sum += weights[tokens[t]! * WIDTH + i]!;
    hidden[i] = Math.tanh(sum);
  }
  const scores = ACTIONS.map((_, action) => {
    let score = 0;
    for (let i = 0; i < WIDTH; i++) score += weights[OUTPUT + action * WIDTH + i]! * hidden[i]!;
    return Math.exp(score);
  });
  const total = scores.reduce((a, b) => a + b);
  return scores.map((score) => score / total);
}

// ---- 3. The teacher: half of the time it walks straight at the goal through any hole, otherwise it knows the shortest
// way, and half of its moves are random. A perfect teacher would leave reinforcement learning nothing to show.

function teacher(lake: Lake): (cell: number) => number {
  const careless = random() < 0.5;
  const moves = distances(careless ? { ...lake, holes: [] } : lake);
  return (cell) => {
    if (random() < 0.5) return dice(4);
    const nearest = Math.min(...ACTIONS.map((_, action) => moves[move(cell, action)]!));
    const best = [0, 1, 2, 3].filter((action) => moves[move(cell, action)] === nearest);
    return best[dice(best.length)]!;
  };
}

// ---- 4. An episode is one growing sequence of tokens: words read, word written, words read, ... It is never decoded and
// encoded again, so what is trained on is exactly what was sampled. The mask is 1 on the words that the actor wrote:
// nobody can take credit for words that the world wrote.

interface Episode {
  readonly tokens: number[];
  readonly mask: number[];
  readonly reward: number;
}

/** Undefined when the simulator broke down, as real ones do: a browser crashes, a tool times out. That says nothing about
 *  the policy. Calling it a failure with reward 0 would teach the policy to avoid whatever it did just before. */
function play(
  lake: Lake,
  crashRate: number,
  act: (cell: number, tokens: readonly number[]) => number,
): Episode | undefined {
  const tokens = [idOf.get('begin')!];
  const mask = [0];
  let cell = lake.start;
  for (let turn = 0; turn < TURNS; turn++) {
    if (random() < crashRate) return undefined;
    for (const word of observe(lake, cell)) {
      tokens.push(idOf.get(word)!);
      mask.push(0);
    }
    const action = act(cell, tokens);
    tokens.push(action); // The ids of the actions are 0 to 3: they are the first words.
    mask.push(1);
    cell = move(cell, action);
    if (cell === lake.goal) return { tokens, mask, reward: 1 };
    if (lake.holes[cell]) break;
  }
  return { tokens, mask, reward: 0 };
}

/** Samples at temperature 1: the policy as it is, not only its favourite word. */
function sample(_cell: number, tokens: readonly number[]): number {
  const probabilities = predict(tokens, tokens.length);
  let left = random();
  for (let action = 0; action < 3; action++) {
    left -= probabilities[action]!;
    if (left < 0) return action;
  }
  return 3;
}

// ---- 5. Credit: who did better than the others on the same lake? Each episode is compared with the mean of the rest of
// its group (RLOO, arXiv 2402.14740): an easy lake gives no praise and a hard one no blame. Leaving the episode itself
// out keeps the gradient unbiased. Where all did equally well there is nothing to learn.

function leaveOneOut(rewards: readonly number[]): number[] {
  const total = rewards.reduce((a, b) => a + b, 0);
  return rewards.map((reward) => reward - (total - reward) / (rewards.length - 1));
}

// ---- 6. Learning: make each written word more likely where the advantage is positive, less likely where it is negative.
// loss = - sum over masked tokens of advantage * log p(token) / number of masked tokens; then one step of Adam.
// Copying a teacher is the same with the advantage 1. With one step for each batch the policy that learns is still the one
// that sampled, so the clipped ratio of PPO would be 1 everywhere; it matters from the second step on the same batch.

let slope = new Float64Array(PARAMETERS);
let square = new Float64Array(PARAMETERS);
let steps = 0;

function learn(batch: readonly (readonly [Episode, number])[], learningRate: number): void {
  const gradient = new Float64Array(PARAMETERS);
  const count = batch.reduce((sum, [{ mask }]) => sum + mask.reduce((a, b) => a + b), 0);
  const inner = new Float64Array(WIDTH);
  for (const [{ tokens, mask }, advantage] of batch) {
    if (advantage === 0) continue;
    for (let t = WINDOW; t < tokens.length; t++) {
      if (mask[t] === 0) continue;
      const probabilities = predict(tokens, t);
      inner.fill(0);
      for (let action = 0; action < ACTIONS.length; action++) {
        const error = (advantage * (probabilities[action]! - Number(action === tokens[t]))) / count;
        for (let i = 0; i < WIDTH; i++) {
          gradient[OUTPUT + action * WIDTH + i]! += error * hidden[i]!;
          inner[i]! += error * weights[OUTPUT + action * WIDTH + i]!;
        }
      }
      for (let i = 0; i < WIDTH; i++) {
        const below = inner[i]! * (1 - hidden[i]! ** 2);
        gradient[BIAS + i]! += below;
        for (let read = t - WINDOW; read < t; read++) gradient[tokens[read]! * WIDTH + i]! += below;
      }
    }
  }
  steps++;
  for (let p = 0; p < PARAMETERS; p++) {
    slope[p] = 0.9 * slope[p]! + 0.1 * gradient[p]!;
    square[p] = 0.99 * square[p]! + 0.01 * gradient[p]! ** 2;
    const scale = Math.sqrt(square[p]! / (1 - 0.99 ** steps)) + 1e-8;
    weights[p]! -= (learningRate * slope[p]!) / (1 - 0.9 ** steps) / scale;
  }
}

// ---- 7. The loop.

export interface LoopOptions {
  readonly seed?: number;
  readonly cloneSteps?: number;
  readonly updates?: number;
  readonly evaluationLakes?: number;
  readonly print?: (line: string) => void;
}

/** Share of held-out lakes crossed, before and after reinforcement learning. */
export function main(options: LoopOptions = {}): { readonly before: number; readonly after: number } {
  const { cloneSteps = 30, updates = 150, evaluationLakes = 1000, print = console.log } = options;
  seed = options.seed ?? 1;
  weights = Float64Array.from({ length: PARAMETERS }, () => 0.3 * (random() - 0.5));
  [slope, square, steps] = [new Float64Array(PARAMETERS), new Float64Array(PARAMETERS), 0];

  const evaluate = (): number => {
    let crossed = 0;
    for (let i = 0; i < evaluationLakes; i++) crossed += play(drawLake(true), 0, sample)!.reward;
    return crossed / evaluationLakes;
  };

  for (let step = 0; step < cloneSteps; step++) {
    const demonstrations = Array.from({ length: 64 }, () => {
      const lake = drawLake(false);
      return [play(lake, 0, teacher(lake))!, 1] as const;
    });
    learn(demonstrations, 0.01);
  }
  const before = evaluate();
  print(`copied the teacher: crosses ${percent(before)} of lakes it has never seen`);

  for (let update = 0; update < updates; update++) {
    const batch: [Episode, number][] = [];
    let [crossed, finished, crashed] = [0, 0, 0];
    for (let group = 0; group < 32; group++) {
      const lake = drawLake(false);
      const attempts = Array.from({ length: 8 }, () => play(lake, 0.005, sample));
      const survivors = attempts.filter((episode) => episode !== undefined);
      crashed += attempts.length - survivors.length;
      if (survivors.length < 2) continue; // Nobody to compare with.
      const rewards = survivors.map((episode) => episode.reward);
      const advantages = leaveOneOut(rewards);
      for (const [member, episode] of survivors.entries()) batch.push([episode, advantages[member]!]);
      crossed += rewards.reduce((a, b) => a + b);
      finished += rewards.length;
    }
    learn(batch, 0.01 * (1 - (0.9 * update) / updates));
    if (update % 10 === 9) {
      const rate = crossed / finished;
      const bar = '#'.repeat(Math.round(rate * 40)).padEnd(40, '.');
      print(
        `update ${String(update + 1).padStart(3)}  ${bar}  ${percent(rate)}  (${crashed} crashed, left out)`,
      );
    }
  }
  const after = evaluate();
  print(`practised: crosses ${percent(after)} of lakes it has never seen (before: ${percent(before)})`);
  return { before, after };
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

if (import.meta.filename === process.argv[1]) main();
