/** Beside the groups: which settings differ from their defaults, and those that most often matter. */

import { useRef } from 'preact/hooks';
import type { Setting } from '../../shapes.ts';
import { runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import { address } from '../navigation/router.ts';
import { Link } from '../parts/link.tsx';
import { useSeen } from '../parts/seen.ts';
import { number } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';

const mattering = [
  'rollout.tasks',
  'rollout.group',
  'credit.method',
  'objective.name',
  'optimizer.learningRate',
  'model.pretrained',
];
const mostShown = 10;

export function settingValue(value: unknown): string {
  if (typeof value === 'number') return number(value);
  if (value === '') return '(empty)';
  return oneLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), 60);
}

interface SettingsCardProps {
  readonly run: string;
  readonly isLive: boolean;
}

export function SettingsCard({ run, isLive }: SettingsCardProps) {
  const holder = useRef<HTMLElement>(null);
  const isSeen = useSeen(holder);
  // To find out what is usual costs more than the rest of the page: beside a training not before somebody looks.
  const { value: settings } = useLoaded<Setting[]>(isSeen || !isLive ? runPath(run, '/config') : undefined);
  if (!settings) return <section ref={holder} class="card settings" aria-label="Configuration" />;
  const differing = settings.filter(({ differs }) => differs);
  const known = settings.some(({ usual }) => usual !== undefined);
  const rest = settings.filter(
    ({ key, differs, value }) => mattering.includes(key) && !differs && value !== '',
  );
  return (
    <section ref={holder} class="card settings" aria-label="Configuration">
      <h2>Configuration</h2>
      <p class="ink2">
        {known
          ? `${differing.length} of ${settings.length} settings ${differing.length === 1 ? 'differs' : 'differ'} from ${differing.length === 1 ? 'its default' : 'their defaults'}`
          : `${settings.length} settings; their defaults are not known here`}
      </p>
      <Settings settings={differing.slice(0, mostShown)} />
      {differing.length > mostShown && (
        <p>
          <Link to={address('runs', run, 'config')}>All {differing.length} that differ</Link>
        </p>
      )}
      <p class="ink2">That most often matter</p>
      <Settings settings={rest} />
    </section>
  );
}

export function Settings({ settings }: { readonly settings: readonly Setting[] }) {
  return (
    <dl class="settings-list">
      {settings.map(({ key, value, usual, differs }) => (
        <div key={key}>
          <dt>{oneLine(key, 80)}</dt>
          <dd>
            {differs ? <b>{settingValue(value)}</b> : settingValue(value)}
            {differs && usual !== undefined && <span class="ink3"> default {settingValue(usual)}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
