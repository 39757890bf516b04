/** The distributions that tests and sample sizes need, to about 1e-13: Student's t, the normal, chi-square. */

/** Coefficients of Stirling's series: B₂ₖ / (2k (2k − 1)). */
const stirling = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156];

/** ln Γ(x) of x > 0. */
export function logGamma(x: number): number {
  // The series is exact to the last bit from 15 on.
  let [shifted, factor] = [x, 1];
  while (shifted < 15) {
    factor *= shifted;
    shifted += 1;
  }
  const series = stirling.reduce((sum, coefficient, k) => sum + coefficient / shifted ** (2 * k + 1), 0);
  const large = (shifted - 0.5) * Math.log(shifted) - shifted + 0.5 * Math.log(2 * Math.PI) + series;
  return large - Math.log(factor);
}

/** Regularised incomplete beta function, by its continued fraction (Lentz). */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  const tiny = 1e-300;
  let c = 1;
  let d = 1 / (Math.abs(1 - ((a + b) * x) / (a + 1)) < tiny ? tiny : 1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 1000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    let change = 1;
    for (const term of [even, odd]) {
      d = 1 / (1 + term * d || tiny);
      c = 1 + term / c || tiny;
      change = c * d;
      fraction *= change;
    }
    if (Math.abs(change - 1) < 1e-16) break;
  }
  return (front * fraction) / a;
}

/** P(|T| ≥ |t|) of Student's t with so many degrees of freedom. */
export function tTwoSided(t: number, df: number): number {
  if (!Number.isFinite(t)) return 0;
  return incompleteBeta(df / (df + t * t), df / 2, 0.5);
}

/** The t with P(|T| ≥ t) = alpha. */
export function tCritical(alpha: number, df: number): number {
  let [low, high] = [0, 2];
  while (tTwoSided(high, df) > alpha) high *= 2;
  return bisect((t) => tTwoSided(t, df) < alpha, low, high);
}

/** Standard normal distribution function. */
export function normalBelow(z: number): number {
  return z < 0 ? incompleteGammaUpper(0.5, (z * z) / 2) / 2 : 1 - incompleteGammaUpper(0.5, (z * z) / 2) / 2;
}

/** The z below which a standard normal lies with this probability. */
export function normalQuantile(probability: number): number {
  return bisect((z) => normalBelow(z) > probability, -40, 40);
}

/** The value below which chi-square lies with this probability. */
export function chiSquareQuantile(probability: number, df: number): number {
  let high = df;
  while (1 - incompleteGammaUpper(df / 2, high / 2) < probability) high *= 2;
  return bisect((x) => 1 - incompleteGammaUpper(df / 2, x / 2) > probability, 0, high);
}

/** Regularised upper incomplete gamma function. */
function incompleteGammaUpper(a: number, x: number): number {
  if (x <= 0) return 1;
  const front = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = 1; n < 1000 && term > sum * 1e-17; n++) {
      term *= x / (a + n);
      sum += term;
    }
    return 1 - front * sum;
  }
  let b = x + 1 - a;
  let c = 1e300;
  let d = 1 / b;
  let fraction = d;
  for (let n = 1; n < 1000; n++) {
    const term = -n * (n - a);
    b += 2;
    d = 1 / (term * d + b || 1e-300);
    c = b + term / c || 1e-300;
    fraction *= c * d;
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return front * fraction;
}

/** Where `above` turns from false to true. */
function bisect(above: (x: number) => boolean, low: number, high: number): number {
  let [from, to] = [low, high];
  for (let round = 0; round < 200; round++) {
    const middle = (from + to) / 2;
    if (middle === from || middle === to) break;
    if (above(middle)) to = middle;
    else from = middle;
  }
  return (from + to) / 2;
}
