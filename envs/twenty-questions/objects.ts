/** Sixty-four objects of LMRL-Gym's list (MIT), with features of our own: a word says that the object has it. */

import type { Thing } from '../questions/questions.ts';

export const QUESTIONS: Readonly<Record<string, string>> = {
  animal: 'Is it an animal?',
  fruit: 'Is it a fruit?',
  vehicle: 'Is it a vehicle?',
  clothing: 'Is it a piece of clothing?',
  instrument: 'Is it a musical instrument?',
  furniture: 'Is it a piece of furniture?',
  utensil: 'Is it a kitchen tool?',
  tool: 'Is it a tool?',
  large: 'Is it larger than most of its kind?',
  common: 'Do most people meet it every week?',
  long: 'Is it long and thin?',
  metal: 'Is there usually metal in it?',
  water: 'Does it have to do with water?',
  red: 'Is it often red, orange or brown?',
  soft: 'Is it soft?',
  legs: 'Does it have legs, or is it worn on them?',
};

const KINDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  animal: {
    cat: 'common soft legs red',
    dog: 'common soft legs large',
    horse: 'large legs red',
    cow: 'large legs common',
    sheep: 'soft legs',
    rabbit: 'soft legs red',
    bear: 'large soft legs red',
    elephant: 'large legs water',
  },
  fruit: {
    apple: 'common red',
    banana: 'common long soft',
    orange: 'common red water',
    strawberry: 'red soft',
    grape: 'common water soft',
    watermelon: 'large water red',
    pineapple: 'large long',
    mango: 'large red soft',
  },
  vehicle: {
    car: 'common metal',
    truck: 'common metal large',
    motorcycle: 'metal red',
    boat: 'water',
    train: 'common metal large long',
    bus: 'common metal large red',
    helicopter: 'metal',
    ship: 'water large metal',
  },
  clothing: {
    shirt: 'common soft',
    pants: 'common soft legs long',
    jacket: 'common large water metal',
    dress: 'soft large red',
    belt: 'long metal',
    boots: 'legs water red',
    socks: 'common soft legs',
    scarf: 'soft long',
  },
  instrument: {
    piano: 'large common metal legs',
    guitar: 'common red metal',
    drum: 'large legs',
    violin: 'red',
    saxophone: 'metal red large',
    flute: 'long metal',
    trumpet: 'metal common',
    harp: 'large long',
  },
  furniture: {
    chair: 'common legs',
    table: 'common legs large',
    bed: 'common soft large legs',
    desk: 'common legs metal',
    couch: 'soft large legs common red',
    dresser: 'large red metal',
    bookcase: 'large long red',
    pillow: 'common soft',
  },
  utensil: {
    knife: 'common long metal large',
    spoon: 'common long metal water',
    fork: 'common long metal',
    plate: 'common',
    bowl: 'common water',
    pan: 'common metal large',
    cup: 'common water red',
    whisk: 'long metal',
  },
  tool: {
    hammer: 'metal common',
    screwdriver: 'metal long common',
    wrench: 'metal long',
    saw: 'metal large long',
    pliers: 'metal red',
    drill: 'metal large red',
    shovel: 'metal large long red',
    rake: 'long large',
  },
};

/** The first of each kind first, so that a part of the list has all kinds. */
export const OBJECTS: readonly Thing[] = Array.from({ length: 8 }, (_, index) =>
  Object.entries(KINDS).map(([kind, members]): Thing => {
    const [name, features] = Object.entries(members)[index]!;
    const has = [kind, ...features.split(' ')];
    const answers = Object.keys(QUESTIONS).map((word) => [word, has.includes(word) ? 'yes' : 'no'] as const);
    return { name, answers: Object.fromEntries(answers) };
  }),
).flat();
