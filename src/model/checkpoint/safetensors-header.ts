/** How a safetensors file begins: the length of its header, and the header, which says where each tensor lies. */

export const elementCount = (shape: readonly number[]): number =>
  shape.reduce((product, size) => product * size, 1);

/** The first bytes of a file of 32-bit floats; the data of the tensors follows in their order, little-endian. */
export function safetensorsHeader(
  tensors: ReadonlyMap<string, { readonly shape: readonly number[] }>,
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let offset = 0;
  for (const [name, { shape }] of tensors) {
    const end = offset + 4 * elementCount(shape);
    header[name] = { dtype: 'F32', shape, data_offsets: [offset, end] };
    offset = end;
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  // The data must start at a multiple of 8 bytes, for readers that map the file.
  const headerBytes = Math.ceil(json.byteLength / 8) * 8;
  const start = new Uint8Array(8 + headerBytes).fill(0x20);
  new DataView(start.buffer).setBigUint64(0, BigInt(headerBytes), true);
  start.set(json, 8);
  return start;
}
