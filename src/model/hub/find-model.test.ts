import { randomBytes } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TurnwiseError } from '../../core/errors.ts';
import { type DownloadProgress, type FindOptions, findModel, parseReference } from './find-model.ts';
import { COMMIT, type FakeHub, sha256, startHub } from './testing-hub.test-helper.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-hub-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const weights = randomBytes(300_000);
const files: Record<string, Buffer> = {
  'config.json': Buffer.from('{"model_type": "qwen3"}'),
  'tokenizer.json': Buffer.from('{}'),
  'README.md': Buffer.from('not wanted'),
  'model.safetensors': weights,
};

let hub: FakeHub;
let options: FindOptions;
let progress: DownloadProgress[];
let home: string;
beforeEach(async () => {
  hub = await startHub(files);
  home = mkdtempSync(join(root, 'home-'));
  progress = [];
  options = {
    environment: { HF_HOME: home, HF_ENDPOINT: hub.endpoint },
    signal: new AbortController().signal,
    onProgress: (event) => progress.push(event),
    patience: { attempts: 3, waitMs: 1, silenceMs: 2000 },
  };
});
afterEach(() => hub.close());

const repository = (): string => join(home, 'hub', 'models--owner--name');
const downloads = (): string[] => hub.seen.filter((line) => line.startsWith('GET store'));

async function failure(reference: string, more: Partial<FindOptions> = {}): Promise<string> {
  const error = await findModel(reference, { ...options, ...more }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!TurnwiseError.isInstance(error)) throw error ?? new Error('nothing was raised');
  return `${error.code}: ${error.message}`
    .replaceAll(root, 'ROOT')
    .replaceAll(process.cwd(), 'HERE')
    .replace(/127\.0\.0\.1:\d+/g, 'HUB')
    .replace(/home-\w+/g, 'HOME');
}

test('a model is laid out as Hugging Face libraries do, and found again without a network', async () => {
  const folder = await findModel('owner/name', options);
  expect(folder).toBe(join(repository(), 'snapshots', COMMIT));
  expect(readdirSync(folder).sort()).toEqual(['config.json', 'model.safetensors', 'tokenizer.json']);
  expect(readFileSync(join(folder, 'model.safetensors')).equals(weights)).toBe(true);
  expect(lstatSync(join(folder, 'model.safetensors')).isSymbolicLink()).toBe(true);
  expect(readdirSync(join(repository(), 'blobs'))).toContain(sha256(weights));
  expect(readFileSync(join(repository(), 'refs', 'main'), 'utf8')).toBe(COMMIT);
  expect(progress.at(-1)).toMatchObject({ totalBytes: 300_025, doneBytes: 300_025, secondsLeft: 0 });

  const asked = hub.seen.length;
  expect(await findModel('owner/name', options)).toBe(folder);
  expect(await findModel(`owner/name@${COMMIT}`, options)).toBe(folder);
  expect(hub.seen.length).toBe(asked);
});

test('HF_HUB_CACHE goes before HF_HOME', async () => {
  const cache = join(home, 'elsewhere');
  const folder = await findModel('owner/name', {
    ...options,
    environment: { ...options.environment, HF_HUB_CACHE: cache },
  });
  expect(folder.startsWith(cache)).toBe(true);
});

test('many weight files, named by an index', async () => {
  const index = {
    weight_map: { a: 'model-00001-of-00002.safetensors', b: 'model-00002-of-00002.safetensors' },
  };
  await hub.close();
  hub = await startHub({
    ...files,
    'model.safetensors.index.json': Buffer.from(JSON.stringify(index)),
    'model-00001-of-00002.safetensors': weights.subarray(0, 1000),
    'model-00002-of-00002.safetensors': weights.subarray(1000),
  });
  const folder = await findModel('owner/name', {
    ...options,
    environment: { HF_HOME: home, HF_ENDPOINT: hub.endpoint },
  });
  expect(readdirSync(folder).filter((name) => name.endsWith('.safetensors'))).toEqual(
    Object.values(index.weight_map),
  );
});

test('the token goes to the hub and not to where it sends for large files', async () => {
  await findModel('owner/name', { ...options, environment: { ...options.environment, HF_TOKEN: 'secret' } });
  expect([...hub.authorizations.hub]).toEqual(['Bearer secret']);
  expect([...hub.authorizations.store]).toEqual([]);
});

describe('a server that misbehaves', () => {
  const content = (): Buffer => readFileSync(join(repository(), 'snapshots', COMMIT, 'model.safetensors'));

  test('a stream that is cut goes on where it stopped', async () => {
    hub.misbehave = (name, attempt, response, all, from) => {
      if (name !== 'model.safetensors' || attempt > 3) return false;
      response.writeHead(from > 0 ? 206 : 200, { 'content-length': all.length - from });
      response.write(all.subarray(from, from + 70_000), () => response.socket?.end());
      return true;
    };
    await findModel('owner/name', options);
    expect(content().equals(weights)).toBe(true);
    expect(downloads().length).toBeGreaterThanOrEqual(3);
    expect(downloads().at(-1)).toMatch(/bytes=[1-9]\d+-$/);
  });

  test('a silent connection is given up and taken up again', async () => {
    hub.misbehave = (name, attempt, response, all) => {
      if (name !== 'model.safetensors' || attempt > 1) return false;
      response.writeHead(200, { 'content-length': all.length });
      response.write(all.subarray(0, 100));
      return true;
    };
    await findModel('owner/name', options);
    expect(content().equals(weights)).toBe(true);
  });

  test('one that ignores the range starts from the beginning, and so does the file', async () => {
    hub.misbehave = (name, attempt, response, all) => {
      if (name !== 'model.safetensors' || attempt > 2) return false;
      response.writeHead(200, { 'content-length': all.length });
      if (attempt === 2) response.end(all);
      else response.write(all.subarray(0, 50_000), () => response.socket?.end());
      return true;
    };
    await findModel('owner/name', options);
    expect(content().equals(weights)).toBe(true);
  });

  test('416 and 503 are got over', async () => {
    mkdirSync(join(repository(), 'blobs'), { recursive: true });
    writeFileSync(join(repository(), 'blobs', `${sha256(weights)}.incomplete`), weights.subarray(0, 1000));
    hub.misbehave = (name, attempt, response) => {
      if (name !== 'model.safetensors' || attempt > 2) return false;
      response.writeHead(attempt === 1 ? 416 : 503).end();
      return true;
    };
    await findModel('owner/name', options);
    expect(content().equals(weights)).toBe(true);
  });

  test('a part from an earlier try is used, and one that is too long is not', async () => {
    const partial = join(repository(), 'blobs', `${sha256(weights)}.incomplete`);
    mkdirSync(join(repository(), 'blobs'), { recursive: true });
    writeFileSync(partial, weights.subarray(0, 123_456));
    await findModel('owner/name', options);
    expect(downloads()).toEqual(['GET store /model.safetensors bytes=123456-']);
    rmSync(repository(), { recursive: true });
    mkdirSync(join(repository(), 'blobs'), { recursive: true });
    writeFileSync(partial, Buffer.alloc(300_001));
    await findModel('owner/name', options);
    expect(content().equals(weights)).toBe(true);
  });

  test('bytes damaged once are fetched again; damaged twice, they are an error, and nothing wrong is kept', async () => {
    const damaged = Buffer.from(weights);
    damaged[7]! ^= 1;
    let times = 1;
    hub.misbehave = (name, attempt, response) => {
      if (name !== 'model.safetensors' || attempt > times) return false;
      response.writeHead(200, { 'content-length': damaged.length }).end(damaged);
      return true;
    };
    await findModel('owner/name', options);
    expect(content().equals(weights)).toBe(true);
    rmSync(repository(), { recursive: true });
    times = 100;
    const message = await failure('owner/name');
    expect(message.replaceAll(/[0-9a-f]{64}/g, 'SHA256')).toMatchInlineSnapshot(
      `"hub-checksum: model.safetensors of owner/name arrived damaged, twice. Seen: checksum SHA256. Allowed: SHA256. Try again, or from another network; the damaged file has been deleted."`,
    );
    expect(
      readdirSync(join(repository(), 'blobs')).filter((name) => name.startsWith(sha256(weights))),
    ).toEqual([]);
    expect(existsSync(join(repository(), 'refs', 'main'))).toBe(false);
  });

  test('small files are checked as well', async () => {
    hub.misbehave = (name, _attempt, response, all) => {
      if (name !== 'config.json') return false;
      response.writeHead(200, { 'content-length': all.length }).end(Buffer.alloc(all.length, 'x'));
      return true;
    };
    expect(await failure('owner/name')).toMatch(/^hub-checksum: config.json of owner\/name/);
  });

  test('one that never gets anywhere', async () => {
    mkdirSync(join(repository(), 'blobs'), { recursive: true });
    writeFileSync(join(repository(), 'blobs', `${sha256(weights)}.incomplete`), weights.subarray(0, 1000));
    hub.misbehave = (name, _attempt, response) => {
      if (name === 'model.safetensors') response.destroy();
      return name === 'model.safetensors';
    };
    expect((await failure('owner/name')).replace(/then: .*?\. Run/, 'then: …. Run')).toMatchInlineSnapshot(
      `"hub-interrupted: The download of model.safetensors of owner/name was interrupted again and again. Seen: 1000 of 300000 bytes, then: …. Run the command again: it continues where it stopped."`,
    );
  });

  test('a name that leads out of the folder is refused', async () => {
    await hub.close();
    const index = { weight_map: { a: '../../../evil.safetensors' } };
    hub = await startHub({ ...files, 'model.safetensors.index.json': Buffer.from(JSON.stringify(index)) });
    const environment = { HF_HOME: home, HF_ENDPOINT: hub.endpoint };
    expect(await failure('owner/name', { environment })).toMatchInlineSnapshot(
      `"hub-unavailable: The hub's answer about owner/name cannot be used. Seen: weight file "../../../evil.safetensors". Check HF_ENDPOINT, or give a checkpoint folder as ./path."`,
    );
  });
});

test('what cannot be had says why', async () => {
  const gone = await startHub({});
  await gone.close();
  const messages = [
    await failure('owner/gated'),
    await failure('owner/gated', { environment: { ...options.environment, HF_TOKEN: 'x' } }),
    await failure('owner/other'),
    await failure('owner/name@v9'),
    await failure('./nowhere'),
    await failure('owner/name', { environment: { HF_HOME: home, HF_ENDPOINT: gone.endpoint } }),
    await failure('owner/name', { environment: { ...options.environment, HF_HUB_OFFLINE: '1' } }),
  ];
  await hub.close();
  hub = await startHub({
    'config.json': files['config.json']!,
    'tokenizer.json': files['tokenizer.json']!,
    'pytorch_model.bin': weights,
  });
  messages.push(await failure('owner/name', { environment: { HF_HOME: home, HF_ENDPOINT: hub.endpoint } }));
  expect(messages.join('\n')).toMatchInlineSnapshot(`
    "hub-denied: The hub does not give out model owner/gated: it is gated, private, or does not exist. Seen: 403 Access is restricted. Set HF_TOKEN to a token that may read it.
    hub-denied: The hub does not give out model owner/gated: it is gated, private, or does not exist. Seen: 403 Access is restricted. HF_TOKEN was sent; accept the terms of https://huggingface.co/owner/gated with its account.
    hub-unknown: The hub has no model owner/other. Seen: 404 Not Found. Check owner and name; a folder is given as a path that begins with ./ or /.
    hub-unknown: owner/name has no revision "v9". Seen: 404 Not Found. Name a branch, tag or commit after @, or leave it out for main.
    model-unknown: There is no model "./nowhere". Seen: HERE/nowhere does not exist. Allowed: a checkpoint folder; a GGUF file; owner/name of a model on the hub, with @revision if need be; ollama:NAME or lmstudio:PUBLISHER/REPOSITORY.
    hub-unreachable: owner/name is not in the cache, and http://HUB cannot be reached. Seen: connect ECONNREFUSED HUB. Connect to a network, set HF_ENDPOINT to a mirror, or give a checkpoint folder as ./path.
    hub-unreachable: owner/name is not in the cache, and http://HUB cannot be reached. Seen: HF_HUB_OFFLINE is set. Connect to a network, set HF_ENDPOINT to a mirror, or give a checkpoint folder as ./path.
    hub-no-weights: owner/name has no weights in the safetensors format. Seen: pytorch_model.bin. Allowed: model.safetensors, or model.safetensors.index.json and its files. Choose a repository with safetensors."
  `);
});

test.runIf(process.platform === 'linux')('a full disk keeps what is there', async () => {
  mkdirSync(join(repository(), 'blobs'), { recursive: true });
  symlinkSync('/dev/full', join(repository(), 'blobs', `${sha256(weights)}.incomplete`));
  expect((await failure('owner/name')).replace(/[0-9a-f]{64}/, 'SHA256')).toMatchInlineSnapshot(
    `"disk-full: The disk is full. Seen: ENOSPC while writing ROOT/HOME/hub/models--owner--name/blobs/SHA256. The downloaded part is kept. Free some space, then run the command again."`,
  );
});

test('a folder is a folder, whatever its name', async () => {
  mkdirSync(join(home, 'mine'));
  expect(await findModel(join(home, 'mine'), options)).toBe(join(home, 'mine'));
  expect(parseReference('owner/name@refs/pr/1')).toEqual({ repository: 'owner/name', revision: 'refs/pr/1' });
  expect(() => parseReference('owner/name@../../x')).toThrow('There is no model');
});
