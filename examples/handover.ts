/** Sessions written by hand: a speaker sees a word, and a listener must say it, knowing only what the speaker said. */

import { defineSession, user } from 'turnwise';

const words = ['red', 'green', 'blue', 'white', 'black'];

export const handover = defineSession({
  name: 'handover',
  description: 'A speaker tells a listener which word it is.',
  roles: ['speaker', 'listener'],
  maxTurns: 3,
  tasks: words,
  async open(word: string) {
    let said: string | undefined;
    let answer: string | undefined;
    const toMove = () => (said === undefined ? 'speaker' : answer === undefined ? 'listener' : undefined);
    return {
      roles: ['speaker', 'listener'],
      toMove,
      observe: (role) => [user(role === 'speaker' ? `word ${word}` : `heard ${said ?? 'nothing'}`)],
      anchor: (role) => `${role} ${role === 'speaker' ? word : said}`,
      async step(action) {
        const valid = words.includes(action);
        if (valid && said === undefined) said = action;
        else if (valid) answer = action;
        const done = answer !== undefined;
        const right = answer === word;
        const reward = right ? 1 : 0;
        return {
          rewards: { speaker: reward, listener: reward },
          done,
          success: { speaker: right, listener: right },
          valid,
        };
      },
      close: async () => {},
    };
  },
  script(session, player, rng) {
    const role = session.toMove();
    if (role === undefined) return undefined;
    const heard = session.observe(role).at(-1)!.content.split(' ')[1]!;
    return player === 'expert' ? heard : rng.pick(words);
  },
});
