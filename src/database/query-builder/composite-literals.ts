import { setImmediate } from 'node:timers/promises';

/** So many records are read in a few milliseconds. */
export const recordsAtOnce = 2_000;

/** What a cell's text is read as; JSON is whatever it says. */
export type Kind = 'number' | 'boolean' | 'json' | 'text';

// Characters by their codes, which are read faster than texts of one character.
const [quote, minus, zero, nine] = [0x22, 0x2d, 0x30, 0x39];
const [letterT, separator, closing] = [0x74, 0x2c, 0x29];

/**
 * Reads rows that PostgreSQL wrote one after another as records, such as `(1,,"of ""two"" words")`; each cell is of the kind
 * told, a number whole and below 2^53, and an empty one null. Throws where a cell is not of its kind or the text ends early.
 * @see https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-IO-SYNTAX
 */
export function parseComposites<T>(text: string, kinds: Kind[], toRow: (cells: unknown[]) => T): T[] {
  return readSome(text, kinds, toRow, 0, Infinity).rows;
}

/** Reads records as `readRecords` does, with the event loop free in between. */
export async function readManyRecords<T>(text: string, kinds: Kind[], toRow: (cells: unknown[]) => T): Promise<T[]> {
  const all: T[] = [];
  for (let from = 0; from < text.length;) {
    if (from > 0) await setImmediate();
    const { rows, at } = readSome(text, kinds, toRow, from, recordsAtOnce);
    for (const row of rows) all.push(row);
    from = at;
  }
  return all;
}

function readSome<T>(text: string, kinds: Kind[], toRow: (cells: unknown[]) => T, from: number, most: number) {
  const rows: T[] = [];
  const last = kinds.length - 1;
  let at = from;
  while (at < text.length && rows.length < most) {
    const cells = new Array<unknown>(kinds.length);
    for (let n = 0; n <= last; n += 1) {
      // Behind what opens the record or separates two cells.
      at += 1;
      const first = text.charCodeAt(at);
      const kind = kinds[n]!;
      if (first === separator || first === closing) {
        cells[n] = null;
      } else if (kind === 'number') {
        let value = 0;
        if (first === minus) at += 1;
        for (let digit = text.charCodeAt(at); digit >= zero && digit <= nine; digit = text.charCodeAt(at)) {
          value = value * 10 + (digit - zero);
          at += 1;
        }
        cells[n] = first === minus ? -value : value;
      } else if (kind === 'boolean') {
        cells[n] = first === letterT;
        at += 1;
      } else {
        const begin = at;
        at = first === quote ? endOfQuoted(text, begin) : text.indexOf(n === last ? ')' : ',', begin);
        const cell = first === quote ? unquoted(text.slice(begin + 1, at - 1)) : text.slice(begin, at);
        cells[n] = kind === 'json' ? (JSON.parse(cell) as unknown) : cell;
      }
      if (text.charCodeAt(at) !== (n === last ? closing : separator)) throw new Error(`cell ${n} is no ${kind}`);
    }
    at += 1;
    rows.push(toRow(cells));
  }
  return { rows, at };
}

/** Behind the closing quote; a quote inside is doubled. */
function endOfQuoted(text: string, from: number) {
  let at = text.indexOf('"', from + 1) + 1;
  while (at > 0 && text.charCodeAt(at) === quote) at = text.indexOf('"', at + 1) + 1;
  return at;
}

const unquoted = (cell: string) => (/["\\]/.test(cell) ? cell.replace(/(["\\])\1/g, '$1') : cell);
