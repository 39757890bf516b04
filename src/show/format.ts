/** Numbers as people read them. */

/** 0.934 for shares; returns with up to two decimals and a real minus sign. */
export function formatScore(value: number, decimals = 2): string {
  return Number.isFinite(value) ? value.toFixed(decimals).replace('-', '−') : '–';
}

/** `0.93 (0.91 to 0.95)` */
export function formatInterval(value: number, [low, high]: readonly [number, number], decimals = 2): string {
  return `${formatScore(value, decimals)} (${formatScore(low, decimals)} to ${formatScore(high, decimals)})`;
}

/** Three digits: 950, 12.3k, 498k, 4.56M */
export function formatCount(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) < 1000) return String(Math.round(value));
  const [scaled, unit] = Math.abs(value) < 999_500 ? [value / 1e3, 'k'] : [value / 1e6, 'M'];
  const size = Math.abs(scaled);
  return `${scaled.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0)}${unit}`;
}

/** 850 MB, 4.5 GB, 24 GB */
export function formatBytes(bytes: number): string {
  if (bytes < 1e9) return `${Math.round(bytes / 1e6)} MB`;
  return `${(bytes / 1e9).toFixed(bytes < 9.95e9 ? 1 : 0)} GB`;
}

/** 8.2s, 45s, 3m 05s, 2h 07m */
export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${String(whole % 60).padStart(2, '0')}s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, '0')}m`;
}

/** Readable steps (1, 2, 2.5 or 5 times a power of ten) from at or below `low` to at or above `high`. */
export function niceTicks(low: number, high: number, about: number): number[] {
  const span = high > low ? high - low : 1;
  const magnitude = 10 ** Math.floor(Math.log10(span / about));
  const step = magnitude * ([1, 2, 2.5, 5].find((factor) => span / (magnitude * factor) <= about) ?? 10);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil((low + span) / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

/** A tick as text with as many decimals as its neighbours need. */
export function formatTicks(ticks: readonly number[]): string[] {
  const decimals = Math.max(0, ...ticks.map((tick) => (String(tick).split('.')[1] ?? '').length));
  return ticks.map((tick) => formatScore(tick, decimals));
}
