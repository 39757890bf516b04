import { describe, expect, test } from 'vitest';
import { createSandbox, type Sandbox, type SandboxLimits } from './sandbox.ts';

const signal = new AbortController().signal;
/** Generous, because the machine that runs the tests may be busy; `brief` where the limit is meant to be met. */
const limits: SandboxLimits = { timeLimitMs: 5000, memoryLimitBytes: 24 << 20, outputLimit: 200 };
const brief: SandboxLimits = { ...limits, timeLimitMs: 250 };

async function outputs(sandbox: Sandbox, ...codes: string[]): Promise<string[]> {
  const lines: string[] = [];
  for (const code of codes) {
    const { output, error } = await sandbox.evaluate(code, new AbortController().signal);
    lines.push(error ?? output);
  }
  return lines;
}

describe('evaluate', () => {
  test('prints what the code prints, then its value; variables and functions persist', async () => {
    const sandbox = createSandbox(limits);
    expect(
      await outputs(
        sandbox,
        'let r = 6; console.log("six", [r]); r * 7',
        'const f = (x) => x + r',
        'f(1)',
        '"text"',
        '({ a: [1, 2n] })',
        'new Set([1])',
        'Promise.resolve(5)',
        'await1',
        'throw new RangeError("mine")',
        'Promise.reject(new Error("later"))',
        'r +',
        'r',
      ),
    ).toMatchInlineSnapshot(`
      [
        "six [6]
      42",
        "",
        "7",
        ""text"",
        "{"a":[1,"2n"]}",
        "Set [1]",
        "5",
        "ReferenceError: 'await1' is not defined",
        "RangeError: mine",
        "Error: later",
        "SyntaxError: unexpected token in expression: ''",
        "6",
      ]
    `);
    sandbox.close();
    await expect(sandbox.evaluate('1', signal)).rejects.toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: This sandbox was closed. Create a new one.]`,
    );
  });

  test('the same calls give the same results: no clock, seeded chance', async () => {
    const [a, b] = [createSandbox(limits), createSandbox(limits)];
    expect(await outputs(a, 'Math.random()')).toEqual(await outputs(b, 'Math.random()'));
    expect(await outputs(a, 'typeof Date + typeof performance')).toEqual(['"undefinedundefined"']);
  });

  test('nothing of the host can be reached', async () => {
    const sandbox = createSandbox(limits);
    const names =
      'require process module Buffer fetch setTimeout WebAssembly std os scriptArgs print navigator';
    for (const name of names.split(' '))
      expect(await outputs(sandbox, `typeof ${name}`)).toEqual(['"undefined"']);
    expect(await outputs(sandbox, 'import("node:fs")', 'import("fs").then((fs) => fs.readFileSync)')).toEqual(
      [expect.stringMatching(/Error/), expect.stringMatching(/Error/)],
    );
    const detour = '(function () {}).constructor("return typeof process + typeof globalThis.require")()';
    expect(await outputs(sandbox, detour, 'console.log.constructor("return typeof process")()')).toEqual([
      '"undefinedundefined"',
      '"undefined"',
    ]);
  });
});

describe('limits', () => {
  test('time: the call is undone, and what was there before stays', async () => {
    const sandbox = createSandbox(brief);
    const startedAt = performance.now();
    expect(
      await outputs(
        sandbox,
        'let r = 1',
        'r = 2; while (true);',
        'r',
        'try { for (;;); } catch {} r = 3',
        'r',
      ),
    ).toEqual([
      '',
      'TimeLimit: the call took longer than 250 ms and was undone',
      '1',
      'TimeLimit: the call took longer than 250 ms and was undone',
      '1',
    ]);
    expect(performance.now() - startedAt).toBeLessThan(4000);
  });

  test('time, in a native loop that no interrupt reaches: the worker is replaced and nobody else notices', async () => {
    const [culprit, bystander] = [createSandbox(brief), createSandbox(limits)];
    await outputs(bystander, 'let kept = [1, 2]');
    const stuck = culprit.evaluate('Array.prototype.indexOf.call({ length: 1e15 }, 1)', signal);
    const [waiting] = await outputs(bystander, 'kept.push(3); kept');
    expect(waiting).toBe('[1,2,3]');
    expect((await stuck).error).toContain('TimeLimit');
    expect(await outputs(culprit, '1 + 1')).toEqual(['2']);
  });

  test('time: what was called before is not repeated after a call that was undone', async () => {
    const sandbox = createSandbox(limits);
    const busy = 'for (let i = 0; i < 5e5; i++); r = (r ?? 0) + 1';
    const startedAt = performance.now();
    await outputs(sandbox, 'var r', ...Array.from({ length: 16 }, () => busy));
    const history = performance.now() - startedAt;
    const copy = sandbox.fork();
    const forkedAt = performance.now();
    expect(await outputs(copy, 'r')).toEqual(['16']);
    expect(performance.now() - forkedAt).toBeLessThan(history / 2);
  });

  test('stack: deep recursion and deeply nested text are errors of the code', async () => {
    const [culprit, bystander] = [createSandbox(limits), createSandbox(limits)];
    await outputs(bystander, 'let kept = 1');
    const nested = 'JSON.parse("[".repeat(1e5))';
    const errors = await outputs(culprit, '(function f() { f() })()', nested, 'eval("(".repeat(1e5))');
    for (const error of errors) expect(error).toContain('stack overflow');
    expect(await outputs(bystander, 'kept')).toEqual(['1']);
  });

  test('memory: in small pieces the call is undone, in one large piece it raises', async () => {
    const [sandbox, bystander] = [createSandbox(limits), createSandbox(limits)];
    const greedy = 'var hoard = []; for (let i = 0; ; i++) hoard.push([i, i, i])';
    expect(await outputs(sandbox, 'let kept = 1', greedy, '"x".repeat(1e8)', 'kept', 'typeof hoard')).toEqual(
      [
        '',
        'MemoryLimit: the call took more than 24 MiB and was undone',
        'InternalError: out of memory',
        '1',
        '"undefined"',
      ],
    );
    expect(await outputs(bystander, '"x".repeat(1e6).length')).toEqual(['1000000']);
  });

  test('output', async () => {
    const sandbox = createSandbox({ ...limits, outputLimit: 10 });
    expect(await outputs(sandbox, '"x".repeat(1e6)')).toEqual([
      `"${'x'.repeat(9)}\n… 999992 more characters`,
    ]);
    expect(await outputs(sandbox, 'for (let i = 0; i < 1e3; i++) console.log(i)')).toEqual([
      '0\n1\n2\n3\n4\n\n… 3879 more characters',
    ]);
    expect((await outputs(sandbox, 'throw new Error("y".repeat(100))'))[0]).toHaveLength(10);
  });
});

describe('calls of others', () => {
  test('that take long do not keep a short one waiting, whenever it came', async () => {
    const innocent = createSandbox(limits);
    await outputs(innocent, 'let kept = [1, 2]');
    let over = 0;
    const enough = new AbortController();
    const loops = Array.from({ length: 20 }, async () => {
      await createSandbox(limits).evaluate('for (;;);', enough.signal, { timeLimitMs: 3000 });
      over++;
    });
    expect(await outputs(innocent, 'kept.push(3); kept')).toEqual(['[1,2,3]']);
    expect(await outputs(innocent, 'kept.push(4); kept')).toEqual(['[1,2,3,4]']);
    expect(over).toBe(0);
    enough.abort();
    const ended = await Promise.allSettled(loops);
    expect(ended.map(({ status }) => status)).toEqual(loops.map(() => 'rejected'));
  });

  test('are all answered, though each is given up when another comes', async () => {
    const work = 'let n = 0; for (let i = 0; i < 2e5; i++) n += i; n';
    const many = Array.from({ length: 12 }, () => createSandbox(limits));
    const results: string[][] = [];
    const running = many.map(async (sandbox) => results.push(await outputs(sandbox, work, 'n + 1')));
    for (let call = 0; call < 20; call++) await outputs(createSandbox(limits), '1');
    await Promise.all(running);
    expect(results).toEqual(many.map(() => ['19999900000', '19999900001']));
  });
});

describe('a program cannot void its own episode', () => {
  test.each([
    ['throw { toString: 1, valueOf: 2 }', '{"toString":1,"valueOf":2}'],
    ['Promise.reject({ toString: 1, valueOf: 2 })', '{"toString":1,"valueOf":2}'],
    ['throw Object.assign(new Error("x"), { name: { toString: 1 } })', 'Error: x'],
    ['throw Promise.resolve(1)', '{}'],
    ['throw new Proxy({}, { get() { throw 1; } })', 'Error: the thrown value cannot be shown'],
    ['throw { get message() { for (;;); } }', 'TimeLimit'],
    ['var f = async () => { for (;;) await 1 }; f()', 'TimeLimit'],
    ['var f = () => { for (let i = 0; i < 1e3; i++) Promise.resolve().then(f) }; f()', 'Limit'],
    ['var f = async () => { try { for (;;) await f() } catch { f() } finally { f() } }; f()', ''],
  ])('%s is an answer', async (code, error) => {
    const sandbox = createSandbox(brief);
    await outputs(sandbox, 'let kept = 1');
    const said = await sandbox.evaluate(code, signal);
    expect(said.error).toContain(error);
    expect(await outputs(sandbox, 'kept')).toEqual(['1']);
    sandbox.close();
  });
});

describe('sandboxes', () => {
  test('share no globals and no prototypes', async () => {
    const [a, b] = [createSandbox(limits), createSandbox(limits)];
    await outputs(
      a,
      'var mine = 1; Array.prototype.sum = () => 1; JSON.stringify = () => "broken"; console.log = null',
    );
    expect(await outputs(a, '[1].sum() + mine', '[1]')).toEqual(['2', '[1]']);
    expect(await outputs(b, 'typeof mine', 'typeof [].sum', 'JSON.stringify([1])')).toEqual([
      '"undefined"',
      '"undefined"',
      '"[1]"',
    ]);
  });

  test('calls of a sandbox follow one another, whoever waits for them', async () => {
    const sandbox = createSandbox(limits);
    const codes = ['let r = []', ...Array.from({ length: 8 }, (_, index) => `r.push(${index})`), 'r'];
    const said = await Promise.all(codes.map((code) => sandbox.evaluate(code, signal)));
    expect(said.at(-1)!.output).toBe('[0,1,2,3,4,5,6,7]');
  });

  test('fork copies the variables', async () => {
    const original = createSandbox(limits);
    await outputs(original, 'let r = [1]');
    const copy = original.fork();
    await outputs(copy, 'r.push(2)');
    expect(await outputs(original, 'r')).toEqual(['[1]']);
    expect(await outputs(copy, 'r')).toEqual(['[1,2]']);
  });

  test('50 at once keep their own variables', async () => {
    const many = Array.from({ length: 50 }, (_, index) => createSandbox(index === 7 ? brief : limits));
    const results = await Promise.all(
      many.map((sandbox, index) =>
        outputs(sandbox, `let r = ${index}`, 'r = r * 2', index === 7 ? 'for (;;);' : 'r', 'r'),
      ),
    );
    for (const [index, result] of results.entries()) expect(result.at(-1)).toBe(String(index * 2));
  });

  test('an aborted call rejects with the reason, and the sandbox goes on as if it had not been made', async () => {
    const sandbox = createSandbox(limits);
    await outputs(sandbox, 'let r = 1');
    const controller = new AbortController();
    const call = sandbox.evaluate('r = 2', controller.signal);
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(await outputs(sandbox, 'r')).toEqual(['1']);
    await expect(sandbox.evaluate('r', AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
  });
});
