/** Members of a group as squares: filled where they succeeded, hollow where they failed. */

import { Link } from './link.tsx';

export interface MemberMark {
  readonly member: number;
  readonly success: boolean;
  /** The episode itself failed: it is no label. */
  readonly failed?: boolean;
}

interface MembersProps {
  readonly marks: readonly MemberMark[];
  readonly to?: (member: number) => string;
}

const mostShown = 32;

function classOf({ success, failed }: MemberMark): string {
  return failed ? 'square broken' : success ? 'square full' : 'square';
}

function word({ success, failed }: MemberMark): string {
  return failed ? 'broke off' : success ? 'succeeded' : 'failed';
}

export function Members({ marks, to }: MembersProps) {
  const succeeded = marks.filter(({ success }) => success).length;
  const squares = marks.slice(0, mostShown).map((mark) =>
    to ? (
      <Link
        key={mark.member}
        to={to(mark.member)}
        class={classOf(mark)}
        label={`member ${mark.member}, ${word(mark)}`}
      >
        {''}
      </Link>
    ) : (
      <i key={mark.member} class={classOf(mark)} />
    ),
  );
  return to ? (
    <span class="squares">{squares}</span>
  ) : (
    <span class="squares" role="img" aria-label={`${succeeded} of ${marks.length} succeeded`}>
      {squares}
      {marks.length > mostShown && <small>+{marks.length - mostShown}</small>}
    </span>
  );
}

export function Mark(mark: MemberMark) {
  return <i class={classOf(mark)} role="img" aria-label={word(mark)} />;
}
