/** The worked example in the editor: what a visitor begins with. The same text is a file that `turnwise train` reads. */

export const exampleWorld = `// A treasure lies somewhere on a line. The agent is told only "warmer" or "colder".
// State is plain JSON. start() and step() are pure: no Math.random, nothing changed in place.
const places = [-8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8];
const moves = { left: -1, right: 1 };

export const world = {
  name: 'treasure',
  description: 'Find a treasure in the dark, told only "warmer" or "colder".',
  maxTurns: 10,

  // Tasks of a split. Places 3 and 6 are held out: the agent never practises them.
  tasks: (split) => {
    const chosen = places.filter((place) => (place % 3 === 0) === (split === 'test'));
    return { size: chosen.length, at: (index) => chosen[index] };
  },

  // What the agent reads first. A small model reads whole words.
  start: (place) => ({ state: place, messages: [{ role: 'user', content: 'start' }] }),

  step: (place, action) => {
    const state = place - (moves[action] ?? 0);
    const found = state === 0;
    return {
      state,
      observation: Math.abs(state) < Math.abs(place) ? 'warmer' : 'colder',
      reward: found ? 1 : 0,
      done: found,
      success: found,
      valid: action in moves,
    };
  },

  // All actions, and a player to imitate at first: half of its moves are made random.
  actions: () => ['left', 'right'],
  solve: (place) => (place < 0 ? 'left' : 'right'),
};
`;
