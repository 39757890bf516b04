/** Choose a world, watch an agent learn it, open its episodes, take it home. */

import { signal } from '@preact/signals';
import { Shell } from '../../view/page/parts/shell.tsx';
import { Failed } from '../../view/page/parts/states.tsx';
import { Curve } from './curve.tsx';
import { Download } from './download.tsx';
import { Editor } from './editor.tsx';
import { EpisodeList } from './episode-list.tsx';
import { exampleWorld } from './example-world.ts';
import type { StartRequest, WorldChoice } from './messages.ts';
import { Progress } from './progress.tsx';
import { evaluations, isBusy, problem, start, state, stop, warnings } from './session.ts';
import { usualSteps } from './settings.ts';

const worlds: readonly { readonly name: WorldChoice; readonly title: string; readonly text: string }[] = [
  {
    name: 'frozen-lake',
    title: 'Frozen lake',
    text: 'Cross the ice to the goal without falling into a hole. The agent reads six words a turn, and learns only at the end whether it arrived.',
  },
  {
    name: 'wordle',
    title: 'Wordle',
    text: 'Find a hidden word of five letters in six guesses, out of 24 words. Each guess costs a point.',
  },
  {
    name: 'own',
    title: 'Your own',
    text: 'A world is a pure reducer over plain JSON. Change this one, or write another; it runs in this tab’s worker, and nowhere else.',
  },
];

/** Kept while other pages are open. */
const world = signal<WorldChoice>('frozen-lake');
const code = signal(exampleWorld);
const steps = signal<number | undefined>(undefined);
const seed = signal(1);
const cores = Math.min(8, navigator.hardwareConcurrency || 1);
const threads = signal(crossOriginIsolated ? Math.min(2, cores) : 1);
const provider = signal<StartRequest['provider']>('wasm');

export function StartPage() {
  const chosen = worlds.find(({ name }) => name === world.value)!;
  const begin = (event: Event): void => {
    event.preventDefault();
    start({
      world: world.value,
      code: code.value,
      steps: steps.value ?? usualSteps[world.value],
      seed: seed.value,
      threads: threads.value,
      provider: provider.value,
    });
  };
  return (
    <Shell crumbs={[{ label: 'in this browser' }]} isFirst>
      <div class="title">
        <div>
          <h1>Watch an agent learn, in this tab</h1>
          <p class="ink2">
            Reinforcement learning over several turns, on your machine. Nothing leaves it: the page asks no
            other host for anything.
          </p>
        </div>
      </div>
      <form class="card setup" aria-label="Run" onSubmit={begin}>
        <div class="segmented" role="group" aria-label="World">
          {worlds.map(({ name, title }) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === world.value}
              disabled={isBusy.value}
              onClick={() => {
                world.value = name;
              }}
            >
              {title}
            </button>
          ))}
        </div>
        <p class="ink2 about">{chosen.text}</p>
        {world.value === 'own' && <Editor code={code} disabled={isBusy.value} />}
        <div class="fields">
          <Count
            label="Steps"
            value={steps.value ?? usualSteps[world.value]}
            most={1000}
            onChange={(value) => {
              steps.value = value;
            }}
          />
          <Count
            label="Seed"
            value={seed.value}
            most={1_000_000}
            onChange={(value) => {
              seed.value = value;
            }}
          />
          <Choice
            label="Threads"
            value={String(threads.value)}
            choices={Array.from({ length: crossOriginIsolated ? cores : 1 }, (_, index) => String(index + 1))}
            onChange={(value) => {
              threads.value = Number(value);
            }}
          />
          <Choice
            label="Computes on"
            value={provider.value}
            choices={['wasm', 'webgpu']}
            names={{ wasm: 'WebAssembly', webgpu: 'WebGPU, after a check' }}
            onChange={(value) => {
              provider.value = value as StartRequest['provider'];
            }}
          />
          <span class="actions">
            {isBusy.value ? (
              <button type="button" class="primary" disabled={state.value === 'stopping'} onClick={stop}>
                Stop
              </button>
            ) : (
              <button type="submit" class="primary">
                {state.value === 'idle' ? 'Start' : 'Start again'}
              </button>
            )}
            <Download />
          </span>
        </div>
      </form>
      {problem.value && <Failed problem={problem.value} />}
      {warnings.value.map((message) => (
        <p key={message} class="banner alarm">
          {message}
        </p>
      ))}
      {state.value === 'idle' ? (
        <section class="card" aria-label="What will happen">
          <h2>What will happen</h2>
          <ol class="course ink2">
            <li>The runtime loads: 14 MB, once.</li>
            <li>A script plays demonstrations, with mistakes. A new, small model imitates them.</li>
            <li>
              The agent plays each task several times, compares its attempts, and makes likelier what went
              better: again and again, for a minute or three.
            </li>
            <li>
              All the while its episodes are here to be read, token by token. At the end it is yours to
              download.
            </li>
          </ol>
        </section>
      ) : (
        // What was refused before it began has nothing to show.
        (state.value !== 'failed' || evaluations.value.length > 0) && (
          <>
            <Progress />
            <div class="main-and-side">
              <Curve />
              <EpisodeList />
            </div>
          </>
        )
      )}
    </Shell>
  );
}

interface CountProps {
  readonly label: string;
  readonly value: number;
  readonly most: number;
  readonly onChange: (value: number) => void;
}

function Count({ label, value, most, onChange }: CountProps) {
  return (
    <label class="field">
      <span class="ink2">{label}</span>
      <input
        type="number"
        min="1"
        max={most}
        required
        value={value}
        disabled={isBusy.value}
        onInput={({ currentTarget }) => {
          if (currentTarget.validity.valid) onChange(currentTarget.valueAsNumber);
        }}
      />
    </label>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly string[];
  readonly names?: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, choices, names = {}, onChange }: ChoiceProps) {
  return (
    <label class="field">
      <span class="ink2">{label}</span>
      <select
        value={value}
        disabled={isBusy.value || choices.length < 2}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      >
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {names[choice] ?? choice}
          </option>
        ))}
      </select>
    </label>
  );
}
