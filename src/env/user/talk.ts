/** The conversation of a simulated user with the other side, as the user sees it. */

import { assistant, type Message, system, user as words } from '../../core/messages.ts';
import type { SimulatedUser } from './simulate-user.ts';

/** A simulated user in one episode. */
export interface UserInEpisode {
  /**
   * Tell the user something.
   *
   * @param said the assistant's words; absent: the user opens the conversation
   * @returns the user's next words; undefined once the user has ended the conversation
   */
  reply(said?: string): Promise<string | undefined>;
}

/** Ends the conversation, as a model writes it. */
export const END_MARK = '[END]';

/** What a user who speaks first answers to: every model needs a message before its own. */
export const GREETING = 'Hello, how can I help you?';

/** In place of no words, which some servers refuse. */
const SILENCE = '(silence)';

/**
 * @param ask for the user's next words, with all that it knows
 * @returns the conversation, which is held in one place: calls at the same time wait for each other
 */
export function talkWith<Task>(
  user: SimulatedUser<Task>,
  task: Task,
  ask: (messages: readonly Message[]) => Promise<string>,
): UserInEpisode {
  const messages: Message[] = [];
  let over = false;
  let before: Promise<unknown> = Promise.resolve();
  const next = async (said: string): Promise<string | undefined> => {
    if (over) return undefined;
    if (messages.length === 0) messages.push(system(instructionsOf(user, task)));
    const told = [...messages, words(said.trim() === '' ? SILENCE : said)];
    const written = await ask(told);
    messages.push(...told.slice(messages.length), assistant(written));
    const text = written.replaceAll(END_MARK, '').trim();
    over = written.includes(END_MARK);
    return over && text === '' ? undefined : text;
  };
  return {
    reply: (said = GREETING) => {
      const reply = before.then(() => next(said));
      before = reply.catch(() => undefined);
      return reply;
    },
  };
}

/** What a model reads that plays the user. */
export function instructionsOf<Task>(
  { persona, facts }: Pick<SimulatedUser<Task>, 'persona' | 'facts'>,
  task: Task,
): string {
  const known = Object.entries(facts(task)).map(
    ([name, value]) => `- ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return [
    persona(task),
    'You write to an assistant. Write only your own words, one or two sentences at a time.',
    ...(known.length > 0 ? ['You know the following. Tell it when you are asked; invent nothing else:'] : []),
    ...known,
    `When your request is settled or refused, answer with ${END_MARK} and nothing else.`,
  ].join('\n');
}
