/** Builds the page of the viewer: one script, one style sheet and one document, with nothing to load from elsewhere. */

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { build } from 'rolldown';

const source = 'src/view/page';
const target = 'dist/src/view/page';
/** Later ones win. */
const styles = [
  ...[
    'base',
    'plot',
    'shell',
    'parts',
    'run',
    'run-narrow',
    'group',
    'timeline',
    'episode',
    'tokens',
    'compare',
    'play',
    'evaluations',
  ].map((name) => `${source}/style/${name}.css`),
];

export async function buildPage() {
  mkdirSync(target, { recursive: true });
  await build({
    input: `${source}/main.tsx`,
    platform: 'browser',
    logLevel: 'warn',
    tsconfig: `${source}/tsconfig.json`,
    plugins: [onlyLines],
    transform: { target: 'es2022' },
    output: { file: `${target}/main.js`, format: 'esm', minify: true, comments: false },
  });
  writeFileSync(`${target}/main.css`, readStyles());
  copyFileSync(`${source}/index.html`, `${target}/index.html`);
}

/** The style sheet of the viewer, and after it these. */
export function readStyles(more = []) {
  return [...styles, ...more].map((path) => smaller(readFileSync(path, 'utf8'))).join('');
}

/**
 * uPlot without what no chart of ours draws: paths other than lines, dates, and its own legend. It ships as one file that hands
 * all of them out, so nothing is left out by itself.
 */
const onlyLines = {
  name: 'only-lines',
  transform(code, id) {
    if (!id.endsWith('uPlot.esm.js')) return undefined;
    const handedOut = code.replace(/^\{\n[\s\S]*?^\}\n/gm, '');
    const smaller = handedOut.replace('const showLegend = legend.show;', 'const showLegend = false;');
    if (handedOut === code || smaller === handedOut) throw new Error(`${id} is another uPlot than expected`);
    return smaller;
  },
};

/** Without comments and space that says nothing; strings in our style sheets have neither. */
function smaller(css) {
  return css
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\s*([{};,])\s*/g, '$1')
    .replace(/([a-z\d]): /g, '$1:')
    .replaceAll(';}', '}')
    .trim();
}
