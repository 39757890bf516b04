/** Credit, computed here: the stored episodes through any method, beside what the run was trained with. */

import { useEffect, useState } from 'preact/hooks';
import type { Json } from '../../../core/json/json.ts';
import type { CreditAnswer, MethodRow, OptionField, Problem, ShownEpisode } from '../../shapes.ts';
import { bundleStart } from '../data/bundle.ts';
import { postJson, Refusal } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import { type GroupAt, groupQuery } from '../navigation/places.ts';
import { query, show } from '../navigation/router.ts';
import { TableHead } from '../parts/table-head.tsx';
import { plural, signed } from '../text/format.ts';

export interface Credit {
  readonly methods: readonly MethodRow[];
  /** The one that was chosen; undefined shows what was stored. */
  readonly method: MethodRow | undefined;
  readonly options: Readonly<Record<string, Json>>;
  readonly answer: CreditAnswer | undefined;
  readonly problem: Problem | undefined;
}

/** The chosen method is in the address as `credit=gigpo`, its options as `credit.gamma=0.9`. */
export function useCredit(at: GroupAt, episode: ShownEpisode): Credit {
  const { run, place, group } = at;
  const isTraining = episode.label === 'training' || episode.label === 'recorded';
  const computes = isTraining && bundleStart === undefined;
  const { value: methods = [] } = useLoaded<MethodRow[]>(computes ? groupQuery(at, '/methods') : undefined);
  const method = methods.find(({ name }) => name === query.value.get('credit'));
  const options = Object.fromEntries(
    (method?.options ?? []).flatMap((field): [string, Json][] => {
      const text = query.value.get(`credit.${field.key}`);
      return text === null ? [] : [[field.key, parsed(field, text)]];
    }),
  );
  const asked = method && JSON.stringify({ run, place, group, method: method.name, options });
  const [state, setState] = useState<{
    readonly asked?: string | undefined;
    readonly answer?: CreditAnswer;
    readonly problem?: Problem;
  }>({});
  useEffect(() => {
    if (asked === undefined) {
      setState({});
      return;
    }
    const stop = new AbortController();
    postJson<CreditAnswer>('/api/credit', JSON.parse(asked), stop.signal).then(
      (answer) => setState({ asked, answer }),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        const problem =
          error instanceof Refusal ? error.problem : { code: 'unexpected', message: String(error) };
        setState({ asked, problem });
      },
    );
    return () => stop.abort();
  }, [asked]);
  return {
    methods,
    method,
    options,
    answer: method ? state.answer : undefined,
    problem: method ? state.problem : undefined,
  };
}

function parsed({ kind }: OptionField, text: string): Json {
  if (kind === 'number' || kind === 'integer') return Number(text);
  if (kind === 'boolean') return text === 'true';
  if (kind === 'string') return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

interface CreditCardProps {
  readonly at: GroupAt;
  readonly episode: ShownEpisode;
  readonly member: number;
  readonly role: string;
  readonly chosen: number | undefined;
  readonly credit: Credit;
}

export function CreditCard({ episode, member, role, chosen, credit }: CreditCardProps) {
  const { methods, method, answer, problem } = credit;
  const trained = episode.credit?.method;
  const turns = episode.turns.filter((turn) => turn.role === role);
  const computed = answer?.members.find((one) => one.member === member && one.role === role);
  const places = episode.turns.flatMap((turn, index) => (turn.role === role ? [index] : []));
  if (methods.length === 0 && (bundleStart === undefined || trained === undefined)) {
    return (
      <section class="card" aria-label="Credit">
        <h2>Credit</h2>
        <p class="ink2">
          {episode.label === 'training' || episode.label === 'recorded'
            ? 'Loading the methods …'
            : 'Episodes of evaluations are not learned from.'}
        </p>
      </section>
    );
  }
  return (
    <section class="card credit" aria-label="Credit">
      <div class="card-head">
        <h2>Credit</h2>
        <span class="ink3 small">{method ? 'computed here' : 'as stored'}</span>
      </div>
      {bundleStart === undefined && (
        <label class="field block">
          <span class="unseen">Method</span>
          <select
            value={method?.name ?? ''}
            onChange={({ currentTarget }) => chooseMethod(currentTarget.value)}
          >
            <option value="">{trained === undefined ? 'none stored' : `${trained} ●`}</option>
            {methods.map(({ name, title, problem: lacks }) => (
              <option key={name} value={name} title={title}>
                {name}
                {lacks === undefined ? '' : ' (lacks a field)'}
              </option>
            ))}
          </select>
        </label>
      )}
      {method && <Options method={method} />}
      {problem ? (
        <p class="red small" role="alert">
          {problem.message}
        </p>
      ) : (
        <table class="rows plain">
          <TableHead
            columns={[
              'Turn',
              { right: `${trained ?? 'stored'} ●` },
              ...(method ? [{ right: method.name }] : []),
            ]}
          />
          <tbody>
            {turns.map((turn, k) => (
              <tr key={k} class={places[k] === chosen ? 'current' : ''}>
                <th scope="row">{(places[k] ?? k) + 1}</th>
                <td class="right">{signed(turn.advantage)}</td>
                {method && <td class="right">{signed(computed?.turns[k]?.advantage)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="ink2 small">
        ● is what it was trained with.{' '}
        {method && answer && !problem && `Computed over the ${plural(answer.groups, 'group')} of the step. `}
        {method && `${method.title}: ${method.summary}`}
        {!method && bundleStart === undefined && 'Choose a method to compute these episodes again.'}
        {episode.left.includes(role) && ' This episode was left out of the loss.'}
      </p>
      {method && (
        <details>
          <summary>Formula</summary>
          <pre>{method.formula}</pre>
          <p class="ink3 small">{method.source}</p>
        </details>
      )}
    </section>
  );
}

function chooseMethod(name: string): void {
  const others = [...query.value.keys()].filter((key) => key.startsWith('credit.'));
  show({ ...Object.fromEntries(others.map((key) => [key, undefined])), credit: name || undefined });
}

function Options({ method }: { readonly method: MethodRow }) {
  return (
    <div class="options">
      {method.options.map(({ key, kind, type, default: usual, choices, description }) => {
        const name = `credit.${key}`;
        const text =
          query.value.get(name) ?? (typeof usual === 'string' ? usual : JSON.stringify(usual ?? ''));
        const change = (value: string) =>
          show({
            [name]: value === (typeof usual === 'string' ? usual : JSON.stringify(usual)) ? undefined : value,
          });
        const list = kind === 'boolean' ? ['true', 'false'] : choices;
        return (
          <label key={key} htmlFor={name} title={`${description} (${type})`}>
            <span>{key}</span>
            {list ? (
              <select id={name} value={text} onChange={({ currentTarget }) => change(currentTarget.value)}>
                {list.map((choice) => (
                  <option key={choice}>{choice}</option>
                ))}
              </select>
            ) : (
              <input id={name} value={text} onChange={({ currentTarget }) => change(currentTarget.value)} />
            )}
          </label>
        );
      })}
    </div>
  );
}
