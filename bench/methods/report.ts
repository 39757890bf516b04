/** What the stored results are made into: the page of evidence, the page of methods with what was measured, and a picture of each experiment. */

import { methodsPage } from '../../src/cli/methods-page.ts';
import { judgeClaims } from '../../src/compare/claims/claim-verdict.ts';
import { loadEnvironments } from '../../src/run/load/environments.ts';
import { curvePicture, picturePath } from './curve-picture.ts';
import { evidencePage } from './evidence-page.ts';
import { experiments } from './experiments.ts';
import { measuredMethods, type Results } from './measured.ts';

/** Contents by path below `docs/`. */
export async function reportFiles(results: Results): Promise<ReadonlyMap<string, string>> {
  const pictures = experiments.flatMap((experiment): [string, string][] => {
    const result = results.get(experiment.name);
    const path = result && picturePath(experiment, result);
    return path === undefined ? [] : [[path, curvePicture(experiment, result!)]];
  });
  const judged = judgeClaims('bench/claims');
  return new Map([
    ['evidence.md', evidencePage(results, judged)],
    ['methods.md', methodsPage(await loadEnvironments(), measuredMethods(results, judged))],
    ...pictures,
  ]);
}
