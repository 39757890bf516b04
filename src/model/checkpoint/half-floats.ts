/** Floats of 16 bits: IEEE half precision (5 bits of exponent with bias 15, 10 of mantissa). */

let table: Float32Array | undefined;

/** The value of each of the 65,536 half floats, by its bits. */
export function halfFloats(): Float32Array {
  table ??= Float32Array.from({ length: 2 ** 16 }, (_, bits) => halfValue(bits));
  return table;
}

function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const mantissa = bits & 0x3ff;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  if (exponent === 31) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
}

const float = new Float32Array(1);
const floatBits = new Uint32Array(float.buffer);

/** The bits of the half float nearest to a 32-bit float, of two equally near ones the even one; infinite beyond 65,504. */
export function halfBits(value: number): number {
  float[0] = value;
  const bits = floatBits[0]!;
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  // From half of the step above 65,504 on.
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude < 0x38800000) return sign | roundToEven(Math.abs(float[0]!) * 2 ** 24);
  // The exponent's bias falls from 127 to 15; a carry out of the mantissa goes into the exponent, as it should.
  const odd = (magnitude >>> 13) & 1;
  return sign | ((magnitude - 0x38000000 + 0xfff + odd) >>> 13);
}

/** Below the smallest normal number: a count of steps of 2^-24. */
function roundToEven(steps: number): number {
  const below = Math.floor(steps);
  const rest = steps - below;
  return below + (rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? 1 : 0);
}
