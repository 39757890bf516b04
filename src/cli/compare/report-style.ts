/** The look of reports: light and dark, from a phone to a wide screen, with nothing loaded from elsewhere. */

import { lineColours } from '../../show/svg-plot.ts';

/** What the elements of a recipe are marked with: there are so many colours, and further recipes begin again, dashed. */
export function lookOf(index: number): string {
  return `c${index % lineColours.length}${index >= lineColours.length ? ' dashed' : ''}`;
}

const colourRules = (side: 0 | 1): string =>
  lineColours.map((pair, index) => `.c${index} { --line: ${pair[side]}; }`).join(' ');

export const reportStyle: string = `
:root { color-scheme: light dark; --paper: #ffffff; --page: #f6f8fa; --ink: #1f2328; --soft: #59636e;
  --rule: #d8dee4; --axis: #818b98; --accent: #0a7d5a; }
${colourRules(0)}
@media (prefers-color-scheme: dark) {
  :root { --paper: #151b23; --page: #0d1117; --ink: #e6edf3; --soft: #9198a1; --rule: #2b333d; --axis: #656c76; --accent: #3fb98f; }
  ${colourRules(1)}
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); line-height: 1.5;
  font: 16px/1.5 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0.5rem 0 0.25rem; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 0.75rem; }
p { margin: 0.4rem 0; } .soft { color: var(--soft); } .note { color: var(--soft); font-size: 0.86rem; }
.verdict { font-size: 1.05rem; margin-top: 0.9rem; padding-left: 0.8rem; border-left: 3px solid var(--accent); }
.card { background: var(--paper); border: 1px solid var(--rule); border-radius: 10px; padding: 1rem; }
.charts { display: grid; gap: 1rem; } @media (min-width: 56rem) { .charts { grid-template-columns: 1fr 1fr; } }
figure { margin: 0; } figcaption { font-weight: 600; font-size: 0.92rem; margin-bottom: 0.7rem; }
.plot { display: grid; grid-template-columns: 2.6rem 1fr; grid-template-rows: 15rem 2.6rem; }
.ys, .xs, .area { position: relative; } .ys span, .xs span { position: absolute; font-size: 0.75rem; color: var(--soft); white-space: nowrap; }
.ys span { right: 0.5rem; transform: translateY(50%); } .xs { grid-column: 2; }
.xs span { top: 0.3rem; transform: translateX(-50%); } .xs .last { transform: translateX(-90%); }
.xs .axis-name { top: 1.4rem; left: 50%; }
.area svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: visible; }
.area svg * { vector-effect: non-scaling-stroke; }
.grid { stroke: var(--rule); } .base { stroke: var(--axis); } .level { stroke: var(--soft); stroke-dasharray: 2 4; }
.curve { fill: none; stroke: var(--line); stroke-width: 2.5; stroke-linejoin: round; stroke-linecap: round; }
.pairing { fill: none; stroke: var(--soft); stroke-width: 1; opacity: 0.35; }
.seed { fill: none; stroke: var(--line); stroke-width: 1; opacity: 0.28; } .band { fill: var(--line); opacity: 0.14; }
.dot { fill: none; stroke: var(--line); stroke-width: 7; stroke-linecap: round; } .dashed .curve, .curve.dashed { stroke-dasharray: 7 5; }
.legend { display: flex; flex-wrap: wrap; gap: 0.35rem 1.1rem; margin: 0.9rem 0; padding: 0; list-style: none; font-size: 0.9rem; }
.key { display: inline-block; width: 0.8em; height: 0.8em; border-radius: 50%; background: var(--line); margin-right: 0.45em; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.45rem 0.9rem 0.45rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; white-space: nowrap; }
th { color: var(--soft); font-weight: 500; font-size: 0.82rem; } tr:last-child td { border-bottom: 0; }
td.number, th.number { text-align: right; } td .soft { font-size: 0.86em; } td.wrap { white-space: normal; min-width: 12rem; } .failed { color: #cf222e; }
@media (prefers-color-scheme: dark) { .failed { color: #ff7b72; } }

.track { position: relative; height: 1.3rem; min-width: 9rem; }
.track i { position: absolute; display: block; } .track .zero { top: 0; bottom: 0; width: 1px; background: var(--axis); }
.track .range { top: 50%; height: 4px; margin-top: -2px; border-radius: 2px; background: var(--accent); opacity: 0.5; }
.track .mid { top: 50%; width: 10px; height: 10px; margin: -5px; border-radius: 50%; background: var(--accent); }
.track.unclear .range, .track.unclear .mid { background: var(--soft); }
@media (max-width: 40rem) { main { padding: 1rem 0.75rem 3rem; } .plot { grid-template-rows: 12rem 2.6rem; } }
code, pre { font: 0.82rem/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: 0.5rem 0; padding: 0.8rem; background: var(--page); border: 1px solid var(--rule); border-radius: 8px; overflow-x: auto; }
pre.wrapped { white-space: pre-wrap; overflow-wrap: anywhere; }
details { margin-top: 0.8rem; } summary { cursor: pointer; color: var(--soft); font-size: 0.9rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.35rem 1rem; margin: 0; font-size: 0.88rem; } dt { color: var(--soft); } dd { margin: 0; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 0.6rem; } }
`;
