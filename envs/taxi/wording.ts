/** The taxi in sentences, for models that read. */

import type { NaturalWording } from '../../src/env/environment.ts';
import { ABOARD, type TaxiState, type TaxiTask } from './index.ts';
import { drive, SIDES, SIZE, STATIONS, sameCell } from './town.ts';

const stations = STATIONS.map(({ name, row, column }) => `${name} at row ${row}, column ${column}`);

export const taxiSentences: NaturalWording<TaxiState> = {
  instructions: [
    `Drive a taxi through a town of ${SIZE} rows and ${SIZE} columns: fetch a passenger at one station and bring them to`,
    `another, in as few actions as you can. The stations are ${stations.join('; ')}. Rows count from the north, columns`,
    'from the west, and walls stop a move. Answer with one word: north, south, east, west, pickup or dropoff.',
  ].join(' '),
  example: [
    [describe({ row: 4, column: 0, passenger: 2, destination: 1 }), 'pickup'],
    [describe({ row: 4, column: 0, passenger: ABOARD, destination: 1 }), 'north'],
  ],
  observe: (state, step) => {
    if (step?.success) return 'Your passenger has arrived.';
    if (step?.valid === false) return `That is no action. ${describe(state)}`;
    return step && step.reward < -1 ? `That is not possible here. ${describe(state)}` : describe(state);
  },
};

function describe(state: TaxiTask): string {
  const to = STATIONS[state.destination]!.name;
  const passenger =
    state.passenger === ABOARD
      ? `Your passenger wants to go to ${to}.`
      : `A passenger waits at ${STATIONS[state.passenger]!.name} and wants to go to ${to}.`;
  const sides = SIDES.map((side) => `${side} ${sameCell(drive(state, side), state) ? 'wall' : 'free'}`);
  return `${passenger} You are at row ${state.row}, column ${state.column}. ${sides.join(', ')}.`;
}
