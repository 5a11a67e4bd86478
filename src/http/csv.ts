import { stringify } from 'csv-stringify/sync';

/** `spreadsheet`: for a program that reads decimal commas, and would take texts for numbers and days. */
export type CsvForm = { delimiter?: 'comma' | 'semicolon'; spreadsheet?: boolean };

/** With `names`, the columns, from the start of the file. */
export function toCsv(rows: unknown[][], { delimiter, spreadsheet = false }: CsvForm, names?: unknown[]) {
  const isSemicolon = delimiter === undefined ? spreadsheet : delimiter === 'semicolon';
  const write = (lines: unknown[][], cast: object, bom = false) =>
    stringify(lines, { ...format, delimiter: isSemicolon ? ';' : ',', cast, bom });
  const text = write(rows, spreadsheet ? spreadsheetCasts : casts);
  return names === undefined ? text : write([names], casts, true) + text;
}

const format = { record_delimiter: '\r\n', quote_record_delimiter: true };

/** Spreadsheets run what begins with one of these signs, also after blanks. */
const formula = /^(?:\s*[=+\-@＝＋－＠]|[\t\r])/;
const escapeFormula = (text: string) => (formula.test(text) ? `'${text}` : text);
const casts = { boolean: String, string: escapeFormula };

/** A text in a formula has at most 255 characters. */
const maxCell = 255;
const moment = /^(?:\d{4}-\d\d-\d\d(?:[T ]|$))?(?:\d\d:\d\d(?::\d\d)?(?:[+-]\d\d:\d\d)?)?$/;
const isNumberLike = (text: string) =>
  /\p{N}/u.test(text) && text.length <= maxCell && !/\p{Cc}/u.test(text) && !moment.test(text);
const spreadsheetCasts = {
  ...casts,
  string: (text: string) => (isNumberLike(text) ? `="${text.replaceAll('"', '""')}"` : escapeFormula(text)),
  number: (value: number) => String(value).replace('.', ','),
};
