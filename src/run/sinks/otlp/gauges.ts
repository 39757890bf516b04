/** Metrics as OpenTelemetry names them: dots for slashes, a unit, and what stands at the end of a path as an attribute. */

import type { Measured } from '../measured.ts';
import type { Gauge } from './messages.ts';

/** Units by how a path begins or ends; the first that fits. Shares, losses and returns have none. */
const units: readonly (readonly [RegExp, string])[] = [
  [/_per_s$/, '{token}/s'],
  [/_s$/, 's'],
  [/_ms$/, 'ms'],
  [/^tokens\/(?!.*share)/, '{token}'],
  [/^turns\/total$/, '{turn}'],
  [/^(stop|episodes)\//, '{episode}'],
  [/^untrainable\//, '{turn}'],
  [/^groups\/dropped$/, '{group}'],
  [/^policy\/(entropy|kl)/, '{nat}'],
];

export function gaugesOf({ step, metrics }: Measured): Gauge[] {
  return Object.entries(metrics).map(([path, value]) => {
    const unit = units.find(([pattern]) => pattern.test(path))?.[1] ?? '1';
    const [first, second, ...rest] = path.split('/');
    const attributes = { 'turnwise.step': step };
    if (first === 'stop' || first === 'untrainable') {
      const reason = [second, ...rest].join('/');
      return {
        name: `turnwise.${first}`,
        unit,
        value,
        attributes: { ...attributes, 'turnwise.reason': reason },
      };
    }
    if (first === 'eval') {
      const name = `turnwise.eval.${rest.join('.')}`;
      return { name, unit, value, attributes: { ...attributes, 'turnwise.sampling': second } };
    }
    const name = `turnwise.${path.replaceAll('/', '.')}`.replace(/(_tokens_per_s|_ms|_s)$/, '');
    return { name, unit, value, attributes };
  });
}
