/** The look of reports: light and dark, from a phone to a wide screen, with nothing loaded from elsewhere. */

import { figureStyle } from '../../show/chart-frame.ts';

export const reportStyle: string = `
:root { color-scheme: light dark; --paper: #ffffff; --page: #f6f8fa; --ink: #1f2328; --soft: #59636e;
  --rule: #d8dee4; --axis: #818b98; --accent: #0a7d5a; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #151b23; --page: #0d1117; --ink: #e6edf3; --soft: #9198a1; --rule: #2b333d; --axis: #656c76; --accent: #3fb98f; }
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
${figureStyle}
.legend { display: flex; flex-wrap: wrap; gap: 0.35rem 1.1rem; margin: 0.9rem 0; padding: 0; list-style: none; font-size: 0.9rem; }
.key { display: inline-block; width: 0.8em; height: 0.8em; border-radius: 50%; background: currentColor; margin-right: 0.45em; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.45rem 0.9rem 0.45rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; white-space: nowrap; }
th { color: var(--soft); font-weight: 500; font-size: 0.82rem; } tr:last-child td { border-bottom: 0; }
td.number, th.number { text-align: right; } td .soft { font-size: 0.86em; } td.wrap { white-space: normal; min-width: 12rem; } .failed { color: #cf222e; }
@media (prefers-color-scheme: dark) { .failed { color: #ff7b72; } }

.track { position: relative; height: 1.3rem; min-width: 6rem; }
.track i { position: absolute; display: block; } .track .zero { top: 0; bottom: 0; width: 1px; background: var(--axis); }
.track .range { top: 50%; height: 4px; margin-top: -2px; border-radius: 2px; background: var(--accent); opacity: 0.5; }
.track .mid { top: 50%; width: 10px; height: 10px; margin: -5px; border-radius: 50%; background: var(--accent); }
.track.unclear .range, .track.unclear .mid { background: var(--soft); }
@media (max-width: 40rem) { main { padding: 1rem 0.75rem 3rem; } }
code, pre { font: 0.82rem/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: 0.5rem 0; padding: 0.8rem; background: var(--page); border: 1px solid var(--rule); border-radius: 8px; overflow-x: auto; }
pre.wrapped { white-space: pre-wrap; overflow-wrap: anywhere; }
details { margin-top: 0.8rem; } summary { cursor: pointer; color: var(--soft); font-size: 0.9rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.35rem 1rem; margin: 0; font-size: 0.88rem; } dt { color: var(--soft); } dd { margin: 0; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 0.6rem; } }
`;
