/** Numbers and times as people read them on a page. */

const none = '—';
const minus = '\u2212';
const thin = '\u2009';
const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** Three significant digits, powers of ten where they are many: 0.968, 61 440, 3.1·10⁻¹⁰. */
export function number(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return none;
  if (!Number.isFinite(value)) return value > 0 ? '∞' : `${minus}∞`;
  if (value === 0) return '0';
  const size = Math.abs(value);
  const sign = value < 0 ? minus : '';
  if (size < 1e-3 || size >= 1e7) {
    const [mantissa, exponent] = size.toExponential(1).split('e') as [string, string];
    return `${sign}${mantissa.replace(/\.0$/, '')}·10${raised(Number(exponent))}`;
  }
  if (Number.isInteger(value) || size >= 1000) return sign + grouped(Math.round(size));
  return sign + String(Number(size.toPrecision(digits)));
}

/** Two decimals, the sign always told: +0.86, −0.29. */
export function signed(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return none;
  if (Math.abs(value) < 0.005) return '0';
  return `${value < 0 ? minus : '+'}${Math.abs(value).toFixed(2)}`;
}

/** A share with as many digits as say something: 0.97, 0.06. */
export function share(value: number | null | undefined, digits = 2): string {
  return value === null || value === undefined || !Number.isFinite(value) ? none : value.toFixed(digits);
}

export function count(value: number): string {
  return Number.isFinite(value) ? grouped(Math.round(value)) : none;
}

function grouped(value: number): string {
  const text = String(value);
  return text.length < 5 ? text : text.replace(/\B(?=(\d{3})+$)/g, thin);
}

function raised(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((digit) => superscripts[Number(digit)]).join('');
  return exponent < 0 ? `⁻${digits}` : digits;
}

/** 604k, 1.5B */
export function size(value: number): string {
  if (value < 1000) return String(value);
  const [unit, scale] = value < 999_500 ? ['k', 1e3] : value < 999_500_000 ? ['M', 1e6] : ['B', 1e9];
  return `${Number((value / Number(scale)).toPrecision(3))}${unit}`;
}

/** 352 ms, 1.86 s, 7 min 26 s, 2 h 7 min */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return none;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${Number(seconds.toPrecision(3))} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** How long ago, in one unit. */
export function age(time: number, now: number = Date.now()): string {
  const seconds = Math.max(0, (now - time) / 1000);
  if (seconds < 60) return 'now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

export function bytes(length: number): string {
  if (length < 1024) return `${length} characters`;
  return length < 2 ** 20
    ? `${Math.round(length / 1024)}k characters`
    : `${(length / 2 ** 20).toFixed(1)}M characters`;
}

export function plural(amount: number, noun: string): string {
  return `${count(amount)} ${noun}${amount === 1 ? '' : 's'}`;
}
