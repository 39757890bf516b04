/** One record of a CSV file (RFC 4180): fields between commas, and quotes around those that hold commas, quotes or line ends. */

const FIELD = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;

/** The fields, or what is wrong with the text. */
export function parseCsvRecord(text: string): readonly string[] | string {
  const fields: string[] = [];
  FIELD.lastIndex = 0;
  for (;;) {
    const field = FIELD.exec(text);
    if (!field) return `field ${fields.length + 1} has a quote in the wrong place, or one that is not closed`;
    const [, quoted, plain = '', end] = field;
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === '') return fields;
  }
}
