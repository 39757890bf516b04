import fc from 'fast-check';
import { expect, test } from 'vitest';
import { system, user } from '../core/messages.ts';
import { addressed, agentNames } from './agent-names.ts';

test('two agents have each other’s role after an exchange, and their own again after two', () => {
  const roles = ['pioneer', 'observer'];
  expect(agentNames(roles, 0)).toEqual({ pioneer: 'agent1', observer: 'agent2' });
  expect(agentNames(roles, 1)).toEqual({ pioneer: 'agent2', observer: 'agent1' });
  expect(agentNames(roles, 2)).toEqual(agentNames(roles, 0));
});

test('any number of agents have had every role after as many exchanges, and never two the same', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 6 }), fc.nat(20), (roles, from) => {
      const seatings = roles.map((_, exchange) => agentNames(roles, from + exchange));
      for (const names of seatings) expect(new Set(Object.values(names)).size).toBe(roles.length);
      for (const role of roles) {
        expect(new Set(seatings.map((names) => names[role])).size).toBe(roles.length);
      }
    }),
  );
});

test('the name stands before the first message that is not the system’s', () => {
  expect(addressed([system('rules'), user('go'), user('on')], 'agent1')).toEqual([
    system('rules'),
    user('agent1 go'),
    user('on'),
  ]);
  expect(addressed([system('rules')], 'agent1')).toEqual([system('rules'), user('agent1')]);
  expect(addressed([], 'agent1')).toEqual([user('agent1')]);
});
