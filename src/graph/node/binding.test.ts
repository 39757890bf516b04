import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadBinding, runtimePlatforms, runtimeVersion } from './binding.ts';

let project: string;
let modules: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'turnwise-binding-'));
  modules = join(project, 'node_modules');
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

/** Puts a package into `node_modules` of the project, with a binary at each path. */
function install(name: string, version: string, ...paths: string[]): void {
  const folder = join(modules, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version }));
  for (const path of paths) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), '');
  }
}

function load(platform: string, open: (path: string) => unknown = (path) => path): unknown {
  const { resolve } = createRequire(join(project, 'index.js'));
  return loadBinding({ platform, resolve, load: open });
}

const file = 'onnxruntime_binding.node';

test('the package for the machine comes before the one for all machines', () => {
  install('onnxruntime-node', runtimeVersion, `bin/napi-v6/linux/x64/${file}`);
  expect(load('linux-x64')).toBe(join(modules, 'onnxruntime-node/bin/napi-v6/linux/x64', file));
  install('@turnwise/onnxruntime-linux-x64', runtimeVersion, file);
  expect(load('linux-x64')).toBe(join(modules, '@turnwise/onnxruntime-linux-x64', file));
});

test('where neither is installed, it is said what to install', () => {
  expect(() => load('linux-x64')).toThrow(
    expect.objectContaining({
      code: 'runtime-missing',
      message: `The native part of onnxruntime ${runtimeVersion} is not installed for this machine. Seen: linux-x64, and no package that has it. Allowed: linux-x64, linux-arm64, darwin-arm64, win32-x64, win32-arm64. Run \`npm install @turnwise/onnxruntime-linux-x64@${runtimeVersion}\`; npm leaves it out with --omit=optional, and when node_modules comes from another kind of machine.`,
    }),
  );
});

test('on a machine that has no package, it is said which have one', () => {
  install('onnxruntime-node', runtimeVersion, `bin/napi-v6/linux/x64/${file}`);
  expect(() => load('darwin-x64')).toThrow(
    expect.objectContaining({
      code: 'runtime-missing',
      message: `The native part of onnxruntime ${runtimeVersion} is not installed for this machine. Seen: darwin-x64, and onnxruntime-node without a binary for it. Allowed: linux-x64, linux-arm64, darwin-arm64, win32-x64, win32-arm64. Use one of these, or train on a server with \`--engine tinker\`.`,
    }),
  );
});

test('another version is passed over, since its results would be others', () => {
  install('@turnwise/onnxruntime-linux-x64', '1.2.3', file);
  expect(() => load('linux-x64')).toThrow('Seen: linux-x64, and @turnwise/onnxruntime-linux-x64 1.2.3. ');
  install('onnxruntime-node', runtimeVersion, `bin/napi-v6/linux/x64/${file}`);
  expect(load('linux-x64')).toBe(join(modules, 'onnxruntime-node/bin/napi-v6/linux/x64', file));
});

test('where the system refuses the file, it is said what the file needs', () => {
  install('@turnwise/onnxruntime-linux-x64', runtimeVersion, file);
  const refuse = () => {
    throw new Error("version `GLIBC_2.28' not found");
  };
  expect(() => load('linux-x64', refuse)).toThrow(
    expect.objectContaining({
      code: 'runtime-unloadable',
      message: `The system does not load the native part of onnxruntime. Seen: version \`GLIBC_2.28' not found (${join(modules, '@turnwise/onnxruntime-linux-x64', file)}). Allowed: Linux with glibc 2.28 or later and libstdc++ (Alpine has neither). Install the missing part, or use another machine.`,
    }),
  );
});

test('package.json asks for the package of every machine, all of one version', () => {
  const root = new URL('../../../package.json', import.meta.url);
  const manifest = JSON.parse(readFileSync(root, 'utf8')) as Record<string, Record<string, string>>;
  const names = runtimePlatforms.map((platform) => `@turnwise/onnxruntime-${platform}`);
  expect(manifest.optionalDependencies).toEqual(
    Object.fromEntries(names.map((name) => [name, runtimeVersion])),
  );
  expect(manifest.devDependencies!['onnxruntime-node']).toBe(runtimeVersion);
  expect(manifest.dependencies).not.toHaveProperty('onnxruntime-node');
});
