/** `turnwise view`: runs and their episodes as pages of a browser. */

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { writeError } from '../../core/write-error.ts';
import { writeRows } from '../../data/write-rows.ts';
import { version } from '../../run/version.ts';
import type { Console } from '../../show/console.ts';
import { unknownRun } from '../../store/runs.ts';
import { makeBundle, mostBundleBytes } from '../../view/server/bundle.ts';
import { judgedRows } from '../../view/server/judged-episodes.ts';
import { listenView } from '../../view/server/listen.ts';
import { RunsFolder } from '../../view/server/runs-folder.ts';
import type { WatchedRun } from '../../view/server/watched-run.ts';
import { type Command, defineCommand } from '../command.ts';

const options = z.strictObject({
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  port: z.int().min(0).max(65_535).default(0).describe('Port on this machine; 0 takes a free one'),
  bundle: z.string().optional().describe('Write one run into this file, to be opened without a server'),
  groups: z
    .array(z.string())
    .default([])
    .describe('Groups to bundle, as STEP/GROUP; may be repeated; default: those that differ most'),
  annotations: z
    .string()
    .optional()
    .describe('Write what was judged in the page into this dataset file, for --set data=FILE'),
  raw: z.boolean().default(false).describe('Leave keys and passwords in the bundle'),
  play: z.boolean().default(false).describe('Let checkpoints play in the page even while a run trains'),
  open: z.boolean().default(false).describe('Open the page in the browser'),
  json: z.boolean().default(false).describe('Print the address as JSON'),
});

export const viewCommand: Command<typeof options> = defineCommand({
  name: 'view',
  summary: 'Look at runs and their episodes in the browser',
  arguments: [
    {
      name: 'run',
      description: 'Names of runs: one to begin with it, several to see only these',
      required: false,
      several: true,
    },
  ],
  options,
  examples: [
    'turnwise view',
    'turnwise view frozen-lake-rloo-1',
    'turnwise view --open',
    'turnwise view frozen-lake-rloo-1 --bundle out.html',
  ],
  async run({ words, options, console, interrupts }) {
    const { runs: root, port, open, json, bundle } = options;
    const all = new RunsFolder({ root, version });
    for (const word of words) if (!all.list().some(({ name }) => name === word)) throw unknownRun(root, word);
    if (bundle !== undefined) return writeBundle(all, words, { ...options, bundle }, console);
    if (options.annotations !== undefined) {
      return exportAnnotations(all.find(words[0] ?? ''), options.annotations, json, console);
    }
    const [run] = words;
    const names = words.length > 1 ? { names: words } : {};
    const server = await listenView({ root, version, play: options.play, ...names }, port);
    const address = server.address(
      run === undefined || words.length > 1 ? '/' : `/runs/${encodeURIComponent(run)}`,
    );
    console.write(
      json
        ? `${JSON.stringify({ address, origin: server.origin, key: server.key })}\n`
        : `Runs of ${root} at\n\n  ${address}\n\nOnly this machine can reach it. From another: ssh -L PORT:127.0.0.1:${new URL(server.origin).port} HOST\nCtrl-C stops.\n`,
    );
    if (open) openInBrowser(address);
    await new Promise<void>((resolve) => {
      interrupts.signal.addEventListener('abort', () => resolve(), { once: true });
      // Beside a run it ends with the run, however that ends.
      process.once('disconnect', () => resolve());
      if (interrupts.signal.aborted) resolve();
    });
    await server.close();
  },
});

interface BundleRequest extends Pick<z.output<typeof options>, 'groups' | 'raw' | 'json'> {
  readonly bundle: string;
}

async function writeBundle(
  folder: RunsFolder,
  words: readonly string[],
  { bundle: path, groups, raw, json }: BundleRequest,
  console: Console,
): Promise<void> {
  const [name] = words;
  if (name === undefined || words.length > 1) {
    throw new TurnwiseError('bundle-runs', {
      what: 'A bundle holds one run',
      seen: words.length === 0 ? 'none' : words.join(' '),
      next: 'Write: turnwise view RUN --bundle out.html',
    });
  }
  const request = { folder, run: folder.find(name), groups, raw, mostBytes: mostBundleBytes };
  const { html, episodes, leftOut } = await makeBundle(request);
  try {
    writeFileSync(path, html);
  } catch (error) {
    throw writeError(error, path, 'Nothing was written', 'choose another file');
  }
  const bytes = Buffer.byteLength(html);
  const rest = leftOut === 0 ? '' : `; ${leftOut} groups did not fit, choose some with --groups STEP/GROUP`;
  console.write(
    json
      ? `${JSON.stringify({ path, bytes, episodes, leftOut })}\n`
      : `${path}: ${name} with ${episodes} episodes, ${(bytes / 1e6).toFixed(2)} MB${rest}\n`,
  );
}

/** Episodes that were judged good or bad, and corrected turns beside what they were. */
async function exportAnnotations(
  run: WatchedRun,
  path: string,
  json: boolean,
  console: Console,
): Promise<void> {
  const { rows, pairs, unused } = await judgedRows(run);
  writeRows(path, rows);
  const rest = unused === 0 ? '' : `; ${unused} of test tasks or without a judgement left out`;
  console.write(
    json
      ? `${JSON.stringify({ path, rows: rows.length, pairs, unused })}\n`
      : `${path}: ${rows.length} rows, of them ${pairs} pairs of a corrected turn${rest}\nLearn from them with: turnwise train ${run.config().world.source} --set data=${path} --recipe RECIPE\n`,
  );
}

/** By the system's own means; where there are none, the address is on the screen. */
function openInBrowser(address: string): void {
  const [command, ...words] =
    process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '""']
        : ['xdg-open'];
  spawn(command!, [...words, address], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}
