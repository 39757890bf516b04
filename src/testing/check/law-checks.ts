/** Purity, determinism and replay; legal actions; truths; wordings; facts. */

import type { JsonObject } from '../../core/json/json.ts';
import { Rng } from '../../core/rng.ts';
import { thrownText } from '../../core/safe-text.ts';
import { parseFacts } from '../../env/facts.ts';
import { worldLawBreach } from '../../env/laws/environment-laws.ts';
import { brokenTruth } from '../../env/laws/truth-law.ts';
import { brokenWordingLaw } from '../../env/laws/wording-law.ts';
import { partOf } from '../../env/mix/part.ts';
import type { World } from '../../env/world.ts';
import type { Checked, Finding } from './report.ts';
import { placeOf, type Subject } from './subject.ts';

/** The first fault that `find` sees, over as many episodes as were asked for. */
async function firstFault(
  subject: Subject,
  find: (seed: number) => Promise<{ readonly fault: string; readonly where?: JsonObject } | undefined>,
  next: string,
): Promise<readonly Finding[]> {
  for (let seed = 0; seed < subject.episodes; seed++) {
    const { place } = placeOf(subject, seed);
    const told = await find(seed).catch((error: unknown) => ({
      fault: `it threw: ${thrownText(error)}`,
      where: {},
    }));
    if (told === undefined) continue;
    return [
      { fault: told.fault, counterexample: { options: subject.options, ...place, ...told.where }, next },
    ];
  }
  return [];
}

export async function checkLaws(subject: Subject): Promise<Checked> {
  const findings = await firstFault(
    subject,
    async (seed) => {
      const breach = await worldLawBreach(subject.world, placeOf(subject, seed).task, seed);
      return breach && { fault: breach.broken, where: { actions: [...breach.actions] } };
    },
    'Compute each step from state, action and rng alone, and return new states.',
  );
  return { check: 'laws', seen: `${subject.episodes} episodes twice, with nonsense and snapshots`, findings };
}

/** Every listed action at the first places of random episodes. */
export async function checkActions(subject: Subject): Promise<Checked> {
  const { world } = subject;
  let tried = 0;
  const findings = await firstFault(
    subject,
    async (seed) => {
      const { signal } = new AbortController();
      const rng = Rng.of('actions', seed);
      const session = await world.open(placeOf(subject, seed).task, Rng.of('world', seed));
      const before: string[] = [];
      try {
        for (let turn = 0; turn < Math.min(8, partOf(world, session).maxTurns); turn++) {
          const listed = session.toMove() === undefined ? undefined : session.actions?.();
          if (listed === undefined || session.snapshot === undefined) return undefined;
          if (listed.length === 0)
            return { fault: 'actions() is empty before the end', where: { actions: before } };
          const snapshot = await session.snapshot();
          for (const action of rng.shuffle(listed).slice(0, 12)) {
            const twin = await snapshot.open();
            const { valid } = await twin.step(action, signal);
            await twin.close();
            tried++;
            if (!valid)
              return {
                fault: `actions() lists ${JSON.stringify(action)}, which step() refuses`,
                where: { actions: before, action },
              };
          }
          await snapshot.dispose();
          const action = rng.pick(listed);
          before.push(action);
          await session.step(action, signal);
        }
      } finally {
        await session.close();
      }
      return undefined;
    },
    'List exactly the actions that step() takes in this state.',
  );
  return { check: 'actions', seen: tried > 0 ? `${tried} listed actions tried` : 'none listed', findings };
}

export async function checkTruths(subject: Subject): Promise<Checked> {
  const { world, natural } = subject;
  if (!world.truth) return { check: 'truth', seen: 'none', findings: [] };
  const findings = await firstFault(
    subject,
    async (seed) => {
      const { task } = placeOf(subject, seed);
      for (const worded of natural ? [world, natural] : [world]) {
        const fault = await brokenTruth(worded, task, seed);
        if (fault !== undefined) return { fault };
      }
      return undefined;
    },
    'truth(task) is the action that solves the task at once.',
  );
  return { check: 'truth', seen: `of ${subject.episodes} tasks`, findings };
}

export async function checkWordings(subject: Subject): Promise<Checked> {
  const { world, natural, options } = subject;
  if (natural === undefined) {
    const fault = 'it has one wording: pretrained models read words for small models';
    const next =
      'Add natural: { instructions, example, observe } (docs/write-an-environment.md, two wordings), or --skip wordings.';
    return { check: 'wordings', seen: 'one', findings: [{ fault, counterexample: { options }, next }] };
  }
  const findings = await firstFault(
    subject,
    async (seed) => {
      const fault = await brokenWordingLaw(world, natural, placeOf(subject, seed).task, seed);
      return fault === undefined ? undefined : { fault };
    },
    'Both wordings name the same states and actions.',
  );
  return { check: 'wordings', seen: 'compact and natural', findings };
}

/** The facts that turns tell are those that the world declares. */
export async function checkFacts(subject: Subject): Promise<Checked> {
  const { world } = subject;
  const declared = [...(world.facts ?? [])].sort();
  const told = new Set<string>();
  const findings = await firstFault(
    subject,
    async (seed) => {
      for (const facts of await factsIn(world, subject, seed)) {
        for (const name of facts) told.add(name);
        const undeclared = facts.find((name) => !declared.includes(name));
        if (undeclared !== undefined)
          return { fault: `a step tells the fact "${undeclared}", which is not declared` };
      }
      return undefined;
    },
    'List the fields of info.credit in facts.',
  );
  const untold = declared.find((name) => !told.has(name));
  const all: readonly Finding[] =
    findings.length > 0 || untold === undefined
      ? findings
      : [
          {
            fault: `no step told the declared fact "${untold}"`,
            counterexample: { options: subject.options, episodes: subject.episodes },
            next: 'Tell it in info.credit, or strike it from facts.',
          },
        ];
  return { check: 'facts', seen: declared.join(', ') || 'none', findings: all };
}

async function factsIn(
  world: World,
  subject: Subject,
  seed: number,
): Promise<readonly (readonly string[])[]> {
  const { signal } = new AbortController();
  const rng = Rng.of('facts', seed);
  const session = await world.open(placeOf(subject, seed).task, Rng.of('world', seed));
  const told: string[][] = [];
  try {
    for (let turn = 0; turn < world.maxTurns * world.roles.length && session.toMove() !== undefined; turn++) {
      const kind = seed % 2 === 0 ? 'expert' : 'random';
      const action =
        (await world.script?.(session, kind, rng)) ?? (await world.script?.(session, 'random', rng));
      if (action === undefined) break;
      const { info } = await session.step(action, signal);
      const credit = (info as { readonly credit?: JsonObject } | undefined)?.credit;
      if (credit !== undefined) told.push(Object.keys(parseFacts(credit, 'step()')));
    }
  } finally {
    await session.close();
  }
  return told;
}
