/** Text as HTML, and tables of it. */

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

export interface HtmlColumn {
  readonly title: string;
  readonly kind?: 'number' | 'wrap';
}

/** A table that scrolls sideways where it is wider than the page; cells are HTML. */
export function htmlTable(columns: readonly HtmlColumn[], rows: readonly (readonly string[])[]): string {
  const cell = (tag: 'th' | 'td', content: string, index: number): string => {
    const kind = columns[index]?.kind;
    return `<${tag}${kind ? ` class="${kind}"` : ''}>${content}</${tag}>`;
  };
  const line = (tag: 'th' | 'td', cells: readonly string[]): string =>
    `<tr>${cells.map((content, index) => cell(tag, content, index)).join('')}</tr>`;
  const head = line(
    'th',
    columns.map(({ title }) => escapeHtml(title)),
  );
  return `<div class="scroll"><table><thead>${head}</thead><tbody>\n${rows.map((cells) => line('td', cells)).join('\n')}\n</tbody></table></div>`;
}
