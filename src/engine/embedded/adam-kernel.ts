/** The bytes of adam-kernel.wat, so that nothing is read or assembled at run time: `npm run assemble`. */

const base64: readonly string[] = [
  'AGFzbQEAAAABEAFgDH9/f39/fX19fX19fQACEAEEaG9zdAZtZW1vcnkCAAEDAgEABwgBBHN0ZXAAAAr4AQH1AQIBfwx7IAX9EyEQ',
  'IAb9EyERQwAAgD8gBZP9EyESQwAAgD8gBpP9EyETIAf9EyEUIAj9EyEVIAn9EyEWIAr9EyEXIAv9EyEYIAIgBEECdGohDANAIAL9',
  'AAQAIBT95gEhDSAQIAD9AAQA/eYBIBIgDf3mAf3kASEOIBEgAf0ABAD95gEgEyAN/eYBIA395gH95AEhDyAAIA79CwQAIAEgD/0L',
  'BAAgAyAD/QAEACAV/eYBIBYgDv3mASAPIBf95gH94wEgGP3kAf3nAf3lAf0LBAAgAEEQaiEAIAFBEGohASADQRBqIQMgAkEQaiEC',
  'IAIgDEkNAAsL',
];

export const adamKernel: Uint8Array<ArrayBuffer> = Uint8Array.from(Buffer.from(base64.join(''), 'base64'));
