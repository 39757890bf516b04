/** The shape of a line in the tables of this folder. */
export interface ErrorMeaning {
  /** The situation that the code stands for. */
  readonly meaning: string;
  /** The reader's next step. */
  readonly remedy: string;
  /** Exit code of the command line where it is not 1: 2 for a wrong command line, 130 for an interruption. */
  readonly exit?: 2 | 130;
}

export type ErrorTable = Readonly<Record<string, ErrorMeaning>>;
