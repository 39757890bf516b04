/** What a chart is drawn on: a picture of its own, or a figure of a page. */

import { escapeHtml } from './html.ts';
import { type Chart, chartStyle, drawChart } from './svg-chart.ts';

/** A whole document: a sheet of paper with a title, a line below it, and what is drawn. Light and dark. */
export function chartPicture(picture: {
  readonly width: number;
  readonly height: number;
  /** What is to be seen, in words, for those who cannot. */
  readonly description: string;
  readonly title: string;
  readonly subtitle: string;
  readonly body: readonly string[];
}): string {
  const { width, height, description, title, subtitle, body } = picture;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escapeHtml(description)}</title>
<style>${chartStyle}
  .paper { fill: #ffffff; } .title { font-size: 17px; font-weight: 600; } .panel { font-weight: 600; }
  @media (prefers-color-scheme: dark) { .paper { fill: #0d1117; } }
</style>
<rect class="paper" width="${width}" height="${height}" rx="8"/>
<text class="ink title" x="24" y="32">${escapeHtml(title)}</text>
<text class="soft" x="24" y="52">${escapeHtml(subtitle)}</text>
${body.join('\n')}
</svg>
`;
}

const size = { width: 500, height: 300 } as const;
const box = { left: 50, top: 10, width: 426, height: 244 } as const;

/** The rules of figures, besides those of charts: as wide as their column, with larger letters where that is narrow. */
export const figureStyle: string = `${chartStyle}
  figure { margin: 0; } figcaption { font-weight: 600; font-size: 0.92rem; margin-bottom: 0.7rem; }
  figure .chart { display: block; width: 100%; max-width: 36rem; height: auto; overflow: visible; }
  @media (max-width: 40rem) { figure .chart { font-size: 17px; } }`;

/** A figure for a page whose style has `figureStyle`. */
export function chartFigure(title: string, chart: Chart): string {
  const label = chart.x.title === '' ? title : `${title}, over ${chart.x.title}`;
  return `<figure class="card"><figcaption>${escapeHtml(title)}</figcaption>
<svg class="chart" viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="${escapeHtml(label)}">
${drawChart(box, chart).join('\n')}
</svg></figure>`;
}
