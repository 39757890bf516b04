import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { trainConfigSchema } from '../../train/config/config.ts';
import { nameInAssignments } from './run-definitions.ts';
import { openFields, schemaFields } from './schema-fields.ts';
import { applySettings } from './settings.ts';

const schema = z.strictObject({
  seed: z.int().default(1).describe('Randomness'),
  fast: z.boolean().default(false),
  label: z.string().default(''),
  optimizer: z
    .strictObject({
      learningRate: z.number().positive().default(5e-4),
      schedule: z.enum(['constant', 'linear']).default('linear'),
      share: z.number().min(0).max(1).default(0.5),
    })
    .prefault({}),
  method: z
    .looseObject({ name: z.string().default('rloo') })
    .describe('Options of the method')
    .prefault({}),
});

const apply = (...assignments: string[]): unknown => applySettings(schema, {}, assignments, 'this run');

function problem(...assignments: string[]): string {
  try {
    apply(...assignments);
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  }
  return 'accepted';
}

describe('schemaFields', () => {
  it('lists leaves with kind, range and default', () => {
    expect(
      schemaFields(schema).map(({ key, type, allowed, default: value }) => [key, type, allowed, value]),
    ).toEqual([
      ['seed', 'integer', 'an integer', 1],
      ['fast', 'true|false', 'true or false', false],
      ['label', 'text', 'text', ''],
      ['optimizer.learningRate', 'number > 0', 'a number above 0', 0.0005],
      ['optimizer.schedule', 'constant|linear', 'constant, linear', 'linear'],
      ['optimizer.share', 'number 0 to 1', 'a number at least 0 and at most 1', 0.5],
      ['method.name', 'text', 'text', 'rloo'],
    ]);
  });

  it('names what is open to further keys', () => {
    expect(openFields(schema)).toEqual([['method.*', 'Options of the method']]);
  });
});

describe('applySettings', () => {
  it('lays dotted keys over a base, typed by the schema', () => {
    const base = { seed: 1, optimizer: { share: 0.1 } };
    const assignments = ['seed=7', 'optimizer.learningRate=1e-3', 'fast=true', 'label=3', 'seed=8'];
    expect(applySettings(schema, base, assignments, 'this run')).toEqual({
      seed: 8,
      fast: true,
      label: '3',
      optimizer: { share: 0.1, learningRate: 0.001 },
    });
    expect(base).toEqual({ seed: 1, optimizer: { share: 0.1 } });
  });

  it('reads a list between commas, or as JSON', () => {
    const lists = z.strictObject({ modes: z.array(z.string()).default([]) });
    const of = (text: string): unknown => applySettings(lists, {}, [`modes=${text}`], 'this run');
    expect(of('instant,slow')).toEqual({ modes: ['instant', 'slow'] });
    expect(of('["instant","slow, with care"]')).toEqual({ modes: ['instant', 'slow, with care'] });
    expect(() => of('[instant,slow]')).toThrow('words between commas, or a JSON array');
  });

  it('keeps everything after the first equals sign', () => {
    expect(apply('label=a=b')).toEqual({ label: 'a=b' });
  });

  it('takes further keys where the schema is open, as JSON or text', () => {
    expect(apply('method.gamma=0.9', 'method.kind=soft')).toEqual({ method: { gamma: 0.9, kind: 'soft' } });
  });

  it('names the nearest key', () => {
    expect(problem('sede=1')).toMatchInlineSnapshot(
      `"config-unknown-key: There is no setting "sede" for this run. Did you mean "seed"?"`,
    );
    expect(problem('optimiser.learningRate=1')).toMatchInlineSnapshot(
      `"config-unknown-key: There is no setting "optimiser.learningRate" for this run. Did you mean "optimizer.learningRate"?"`,
    );
    expect(problem('learningrate=1')).toMatchInlineSnapshot(
      `"config-unknown-key: There is no setting "learningrate" for this run. Did you mean "optimizer.learningRate"?"`,
    );
    expect(problem('completely.different=1')).toMatchInlineSnapshot(
      `"config-unknown-key: There is no setting "completely.different" for this run. List the settings with --help."`,
    );
  });

  it.each([
    ['optimizer.lr', 'optimizer.learningRate'],
    ['lr', 'clone.learningRate or critic.learningRate or optimizer.learningRate'],
    ['optimizer.rate', 'optimizer.learningRate'],
    ['learning_rate', 'clone.learningRate or critic.learningRate or optimizer.learningRate'],
    ['optimizer.bta2', 'optimizer.beta2'],
    ['optimizer.warmup', 'optimizer.warmupSteps'],
    ['optim.lr', 'optimizer.learningRate'],
    ['rollout.temp', 'rollout.temperature'],
    ['rollout.groups', 'rollout.group'],
    ['group', 'rollout.group'],
    ['batch', 'clone.batch or replay.batch'],
    ['clone.lr', 'clone.learningRate'],
    ['objective.kl', 'objective.klCoefficient'],
    ['objective.entropy', 'objective.entropyCoefficient'],
    ['step', 'steps'],
    ['sede', 'seed'],
    ['checkpoint.evry', 'checkpoint.every'],
    ['zzzzzzzzz', 'none'],
  ])('a person who writes %s is shown %s', (written, meant) => {
    let message = '';
    try {
      applySettings(trainConfigSchema, {}, [`${written}=1`], 'this run');
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message.match(/Did you mean (.+)\?/)?.[1]?.replaceAll('"', '') ?? 'none').toBe(meant);
  });

  it('says what a value may be', () => {
    expect(problem('seed=1.5')).toMatchInlineSnapshot(
      `"config-invalid: The value of "seed" is not allowed. Seen: 1.5. Allowed: an integer."`,
    );
    expect(problem('seed=')).toMatchInlineSnapshot(
      `"config-invalid: The value of "seed" is not allowed. Seen: nothing. Allowed: an integer."`,
    );
    expect(problem('fast=yes')).toMatchInlineSnapshot(
      `"config-invalid: The value of "fast" is not allowed. Seen: yes. Allowed: true or false."`,
    );
    expect(problem('optimizer.schedule=liner')).toMatchInlineSnapshot(
      `"config-invalid: The value of "optimizer.schedule" is not allowed. Seen: liner (did you mean linear?). Allowed: constant, linear."`,
    );
  });

  it.each([
    'optimizer.__proto__.polluted=1',
    'method.constructor=1',
    'method.inner={"a":{"prototype":1}}',
    'method.inner={"__proto__":{"polluted":1}}',
  ])('refuses names that every object has: %s', (assignment) => {
    expect(problem(assignment)).toMatch(
      /^setting-syntax: "\w+" cannot be a part of a key\. Seen: --set .* Allowed: any name but __proto__, constructor, prototype\.$/,
    );
    expect({}).not.toHaveProperty('polluted');
  });

  it.each(['credit.shape={"__proto__":{}}', 'curation={"void-turns":{},"__proto__":{}}'])(
    'refuses them where definitions are named, too: %s',
    async (assignment) => {
      const { set } = await nameInAssignments([assignment]);
      expect(() => applySettings(trainConfigSchema, {}, set, 'this run')).toThrow(
        /^"__proto__" cannot be a part of a key\./,
      );
    },
  );

  it('refuses what is no assignment', () => {
    expect(problem('seed')).toMatchInlineSnapshot(
      `"setting-syntax: A setting needs a key and a value. Seen: --set seed. Allowed: --set key=value, such as --set steps=50."`,
    );
    expect(problem('=3')).toContain('setting-syntax');
  });
});
