/** The prompts that a run has tried, with what each earned: the best first. */

import type { History } from '../../history.ts';
import { LongText } from '../parts/long-text.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { number, plural, share } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';

export function PromptsCard({
  prompts,
  bestPrompt,
  still,
}: Pick<History, 'prompts' | 'bestPrompt' | 'still'>) {
  if (prompts.length === 0) return null;
  const rank = (id: string): number => (id === bestPrompt ? 0 : 1);
  const rows = [...prompts].sort((a, b) => rank(a.id) - rank(b.id) || b.return - a.return);
  return (
    <section class="card" aria-label="Prompts">
      <h2>Prompts</h2>
      <p class="ink2">
        {plural(prompts.length, 'prompt')} tried. {still && 'The weights stay as they are. '}
        Evaluations read the best, by what the source of prompts knows; returns are means of all groups.
      </p>
      <table class="rows plain">
        <TableHead
          columns={[
            'Prompt',
            { right: 'Return' },
            { right: 'Success' },
            { right: 'Groups' },
            { right: 'Last step' },
          ]}
        />
        <tbody>
          {rows.map(({ id, text, groups, return: earned, success, step }) => (
            <tr key={id}>
              <th scope="row">
                {id === bestPrompt && <b>best </b>}
                <Prompt text={text} />
              </th>
              <td class="right">{number(earned)}</td>
              <td class="right">{share(success)}</td>
              <td class="right">{groups}</td>
              <td class="right">{step}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const shortCharacters = 60;

/** A long one is opened to be read. */
function Prompt({ text }: { readonly text: string }) {
  if (text === '') return <span class="ink3">no prompt</span>;
  const line = oneLine(text, shortCharacters);
  if (line === text)
    return (
      <span class="text" dir="auto">
        {line}
      </span>
    );
  return (
    <details>
      <summary>
        <span class="text" dir="auto">
          {line}
        </span>
      </summary>
      <LongText cut={{ text }} />
    </details>
  );
}
