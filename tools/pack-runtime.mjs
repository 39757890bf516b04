/**
 * Makes the package that has the native part of onnxruntime for one kind of machine, from the binaries of
 * onnxruntime-node: `node tools/pack-runtime.mjs linux-x64 [FOLDER]`, or `all`. Without a name, for this machine.
 *
 * What runs graphs on the CPU is taken, and no more: not DirectML and the shader compilers of Windows, which are loaded
 * only by providers that Turnwise does not use and have licences of their own, nor the second copy of the library on macOS.
 */

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const source = join(root, 'node_modules', 'onnxruntime-node');
const notices = join(root, 'tools', 'runtime-packages');

/** What the binding of each system is linked with, by the name that it asks for. */
const libraries = {
  linux: 'libonnxruntime.so.1',
  darwin: 'libonnxruntime.1.dylib',
  win32: 'onnxruntime.dll',
};
const binding = 'onnxruntime_binding.node';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const prefix = '@turnwise/onnxruntime-';
const versions = Object.fromEntries(
  Object.entries(manifest.optionalDependencies)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, version]) => [name.slice(prefix.length), version]),
);

const [wanted = `${process.platform}-${process.arch}`, folder = '.'] = process.argv.slice(2);
const platforms = wanted === 'all' ? Object.keys(versions) : [wanted];
for (const platform of platforms) pack(platform, versions[platform], resolve(folder));

function pack(platform, version, destination) {
  if (version === undefined)
    fail(`There is no package for ${platform}. Allowed: ${Object.keys(versions).join(', ')}, all.`);
  const from = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')).version;
  if (from !== version)
    fail(
      `package.json asks for onnxruntime ${version}, and onnxruntime-node ${from} is installed. Run npm ci.`,
    );

  const [system, processor] = platform.split('-');
  const made = mkdtempSync(join(tmpdir(), 'turnwise-runtime-'));
  try {
    for (const name of [binding, libraries[system]])
      copyFileSync(join(source, 'bin', 'napi-v6', system, processor, name), join(made, name));
    for (const name of ['LICENSE', 'ThirdPartyNotices.txt'])
      copyFileSync(join(notices, name), join(made, name));
    writeFileSync(join(made, 'README.md'), readme(platform, version));
    writeFileSync(
      join(made, 'package.json'),
      `${JSON.stringify(describe(platform, version), undefined, 2)}\n`,
    );
    mkdirSync(destination, { recursive: true });
    const out = execFileSync(
      'npm',
      ['pack', made, '--json', '--ignore-scripts', '--pack-destination', destination],
      {
        cwd: made,
        encoding: 'utf8',
        shell: process.platform === 'win32',
      },
    );
    const [{ filename, size, unpackedSize }] = JSON.parse(out);
    const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
    console.log(`${filename}: ${megabytes(size)}, ${megabytes(unpackedSize)} unpacked`);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function describe(platform, version) {
  const [system, processor] = platform.split('-');
  return {
    name: `${prefix}${platform}`,
    version,
    description: `The native part of onnxruntime ${version} for Turnwise, on ${platform}.`,
    license: 'MIT',
    repository: { type: 'git', url: 'https://github.com/Microsoft/onnxruntime.git' },
    os: [system],
    cpu: [processor],
    ...(system === 'linux' && { libc: ['glibc'] }),
    main: binding,
    files: [binding, libraries[system], 'ThirdPartyNotices.txt'],
    // The library is found beside the binding, and neither can be loaded from inside an archive.
    preferUnplugged: true,
  };
}

function readme(platform, version) {
  return `# ${prefix}${platform}

The binaries of [onnxruntime](https://onnxruntime.ai) ${version} for ${platform}, unchanged, as the npm package onnxruntime-node has them,
without its install script and without what Turnwise does not use. Copyright Microsoft Corporation, under the MIT License; see
LICENSE and ThirdPartyNotices.txt. Turnwise installs it by itself.
`;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
