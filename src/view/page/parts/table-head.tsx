/** The head of a table: a name for each column. */

export type Column =
  | string
  /** Over numbers, which end together. */
  | { readonly right: string }
  /** Named for those who cannot see what the column shows. */
  | { readonly unseen: string };

export function TableHead({ columns }: { readonly columns: readonly Column[] }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          if (typeof column === 'string')
            return (
              <th key={column} scope="col">
                {column}
              </th>
            );
          if ('right' in column)
            return (
              <th key={column.right} scope="col" class="right">
                {column.right}
              </th>
            );
          return (
            <th key={column.unseen} scope="col">
              <span class="unseen">{column.unseen}</span>
            </th>
          );
        })}
      </tr>
    </thead>
  );
}
