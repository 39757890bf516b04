/** What the group sampled at the same place, with its probability and what came of it: from stored numbers alone. */

import type { MemberOutline } from '../../shapes.ts';
import type { TreeEdge } from '../group/prefix-tree.ts';
import { episodeAddress, type GroupAt } from '../navigation/places.ts';
import { address } from '../navigation/router.ts';
import { Link } from '../parts/link.tsx';
import { Members } from '../parts/members.tsx';
import { number, plural } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';

interface ChoicesProps {
  readonly at: GroupAt;
  readonly edges: readonly TreeEdge[];
  readonly members: readonly MemberOutline[];
  readonly member: number;
}

const mostShown = 12;

/** How many characters, in whole words, all of these begin with: what follows is what tells them apart. */
export function sharedBeginning(texts: readonly string[]): number {
  const words = texts.map((text) => text.split(/(?<=\s)/));
  let length = 0;
  for (let word = 0; words.every((own) => word < own.length - 1 && own[word] === words[0]![word]); word++) {
    length += words[0]![word]!.length;
  }
  return length;
}

export function Choices({ at, edges, members, member }: ChoicesProps) {
  const count = edges.reduce((sum, edge) => sum + edge.members.length, 0);
  const other = edges.find((edge) => !edge.members.some((index) => members[index]!.member === member));
  const shared = sharedBeginning(edges.map(({ action }) => action));
  const beside = other && members[other.members[0]!]!.member;
  return (
    <section class="choices" aria-label="Sampled here by the group">
      <div class="card-head">
        <h3>Sampled here by the group</h3>
        <span class="ink3 small">{plural(count, 'member')}, same situation</span>
      </div>
      <ul>
        {edges.slice(0, mostShown).map((edge) => (
          <li key={edge.action}>
            <code title={oneLine(edge.action, 400)}>
              {shared > 0 && '… '}
              {oneLine(edge.action.slice(shared), 48) || '(nothing)'}
            </code>
            <span class="track">
              <span style={{ width: `${100 * (edge.probability ?? 0)}%` }} />
            </span>
            <span class="probability">p {number(edge.probability, 2)}</span>
            <Members
              marks={edge.members.map((index) => members[index]!)}
              to={(one) => episodeAddress(at, one)}
            />
          </li>
        ))}
      </ul>
      {beside !== undefined && (
        <Link
          class="button"
          to={`${address('runs', at.run, at.place.startsWith('evaluation-') ? 'evaluations' : 'steps', at.place.replace('evaluation-', ''), 'groups', at.group)}?a=${member}&b=${beside}`}
        >
          Member {beside} beside
        </Link>
      )}
    </section>
  );
}
