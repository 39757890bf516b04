/** Fixed scales for token colours, the same on every page and of every run, so that a colour can be learned. */

export type Scale = 'surprise' | 'entropy' | 'advantage' | 'mask';

export const scales: readonly Scale[] = ['surprise', 'entropy', 'advantage', 'mask'];

/** Lower bounds of the steps above the first. */
const bounds = {
  surprise: [0.05, 0.25, 0.7, 1.5, 3],
  entropy: [0.1, 0.5, 1, 2, 3],
  advantage: [-2, -1, -0.25, 0.25, 1, 2],
} as const;

export interface Step {
  /** Of the highlight and its style. */
  readonly name: string;
  /** For the legend. */
  readonly label: string;
}

export const legends: Readonly<Record<Scale, { readonly title: string; readonly steps: readonly Step[] }>> = {
  surprise: { title: '−ln p', steps: stepsOf('surprise', ['0', '.05', '.25', '.7', '1.5', '3 nats']) },
  entropy: { title: 'entropy', steps: stepsOf('entropy', ['0', '.1', '.5', '1', '2', '3 nats']) },
  advantage: {
    title: 'advantage',
    steps: stepsOf('advantage', ['< −2', '−2', '−1', '0', '.25', '1', '2']),
  },
  mask: {
    title: 'in the loss',
    steps: [
      { name: 'mask-trained', label: 'trained' },
      { name: 'mask-out', label: 'not trained' },
    ],
  },
};

function stepsOf(scale: string, labels: readonly string[]): Step[] {
  return labels.map((label, index) => ({ name: `${scale}-${index}`, label }));
}

/** The step of a value; undefined where there is none. */
export function stepOf(scale: Exclude<Scale, 'mask'>, value: number | null | undefined): number | undefined {
  if (value === null || value === undefined || Number.isNaN(value)) return undefined;
  return bounds[scale].filter((bound) => value >= bound).length;
}
