/** Word lists: a few hundred common five-letter words in a mixed order, and a loader for lists in files. */

import { readFileSync } from 'node:fs';
import { TurnwiseError } from '../../src/core/errors.ts';

/** Common words; the first n make a smaller game. Their order is part of the task: add new words at the end. */
export const WORDS: readonly string[] = `
crane house light story plant music bread cloud river stone happy dance
green table world money heart chair beach smile apple night horse tiger
queen piano lemon eagle fruit grass dream voice water train paper sugar
brush knife wheel black fresh juice giant hotel ivory jolly kneel lucky
mouse noble ocean peace quick radio salad truck uncle video whale youth
zebra angel brave candy daily early flame ghost honey image jewel koala
laugh magic north olive proud quiet robot sheep toast urban visit wagon
yield above blend climb drive elbow frost globe hurry index judge knock
label maple nurse offer party quote rapid scale thumb under value waste
young adult birth chest doubt equal fancy grape human input joint known
layer metal novel order pilot quilt reach shade tower upper vivid woman
actor board cabin depth enjoy field guard habit ideal basic later march
nerve other phone ratio seven theme usual virus watch about blame catch
delay event floor glass heavy inner laser match never ought place quart
right solid teach union vocal white album bench chain doing empty fight
grand hello issue learn model noise outer press reply shore today until
vital worth agree bloom check dozen enter first great hobby jelly limit
motor naked onion pride raise slice tribe upset vague wound alarm brick
cycle draft essay flock grain haste irony level mango nylon opera point
range scent trade wheat alive build clean drink error flour grief honor
inlet loose minor nasty orbit plate react shelf title unity vault wrist
amber bring coast devil exist flood group hatch local mayor ninth organ
power refer sharp tooth utter valid write arrow brown court dirty extra
focus guess hover jumbo lodge medal naval owner prize royal speed total
usher villa wrong arena block craft ditch earth forge guide haven knead
lever mercy nudge pause rough shirt touch while asset blank cream diary
eight fever giver hinge lunar merge newly panel roast snake topic widow
aware blush crowd dusty elite final gloom hasty lunch movie peach rural
spare trust weary beard bonus cargo cheap donor exact fence gravy handy
kayak linen moist pearl relax skirt steam swing tulip visor windy bacon
berry bunch camel charm crisp decay feast fiber flute frame front fully
funny grasp greet haunt hedge humor hyena jeans liver lobby loyal mount
nanny petal pinch poker pound pulse punch puppy razor ridge rival rogue
saint sauce scarf scout sense serve shout skill sleep smart snack sound
space spice spoon sport stage stand start state steel stick still storm
stove strip study style super swamp sweet tease thank there thick thing
think third three throw tight tired toxic track trail treat trend trial
truly twice twist vapor verse voter waist waltz wired witch woven yacht
yeast
`
  .trim()
  .split(/\s+/);

/** The words of a text file, one or more a line, lower-cased, each once. Raises `word-list-unreadable` or `word-list-invalid`. */
export function loadWords(path: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new TurnwiseError('word-list-unreadable', {
      what: 'The word list could not be read',
      seen: path,
      next: 'Set wordsFile to a text file of five-letter words.',
      cause,
    });
  }
  const words = [...new Set(text.toLowerCase().split(/\s+/))].filter((word) => word !== '');
  const wrong = words.find((word) => !/^[a-z]{5}$/.test(word));
  if (wrong === undefined && words.length > 0) return words;
  throw new TurnwiseError('word-list-invalid', {
    what: `The word list ${path} has something that is not a five-letter word`,
    seen: wrong === undefined ? 'no words at all' : JSON.stringify(wrong.slice(0, 40)),
    allowed: 'words of five letters from a to z, separated by white space',
  });
}
