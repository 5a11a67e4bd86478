import { setImmediate } from 'node:timers/promises';

/** The parser takes a few milliseconds for this number of rows. */
export const rowsPerSlice = 2_000;

/** How the text of a cell is parsed. */
export type Kind = 'number' | 'boolean' | 'json' | 'text';

// Character codes: comparing them is faster than comparing strings of one character.
const [quote, minus, zero, nine] = [0x22, 0x2d, 0x30, 0x39];
const [letterT, separator, closing] = [0x74, 0x2c, 0x29];

/**
 * Parses rows that PostgreSQL sent as composite literals one after another, such as `(1,,"of ""two"" words")`. Numbers are
 * integers below 2^53; an empty cell is null. Throws where a cell is not of its kind or the text ends early.
 * @see https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-IO-SYNTAX
 */
export function parseComposites<T>(text: string, kinds: Kind[], toRow: (cells: unknown[]) => T): T[] {
  const rows: T[] = [];
  parseRows(text, 0, kinds, (cells) => rows.push(toRow(cells)));
  return rows;
}

/** `parseComposites` with pauses for the event loop. */
export async function parseInSlices<T>(text: string, kinds: Kind[], toRow: (cells: unknown[]) => T): Promise<T[]> {
  const rows: T[] = [];
  for (let from = 0; from < text.length;) {
    if (from > 0) await setImmediate();
    from = parseRows(text, from, kinds, (cells) => rows.push(toRow(cells)), rowsPerSlice);
  }
  return rows;
}

/** Parses at most `maxRows` rows; returns the position after them. */
function parseRows(text: string, from: number, kinds: Kind[], add: (cells: unknown[]) => void, maxRows = Infinity) {
  const last = kinds.length - 1;
  let at = from;
  for (let rows = 0; at < text.length && rows < maxRows; rows += 1) {
    const cells = new Array<unknown>(kinds.length);
    for (let n = 0; n <= last; n += 1) {
      // Skip the opening parenthesis or the separator.
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
        const start = at;
        at = first === quote ? findQuotedEnd(text, start) : text.indexOf(n === last ? ')' : ',', start);
        const cell = first === quote ? unquoted(text.slice(start + 1, at - 1)) : text.slice(start, at);
        cells[n] = kind === 'json' ? (JSON.parse(cell) as unknown) : cell;
      }
      if (text.charCodeAt(at) !== (n === last ? closing : separator)) throw new Error(`cell ${n} is no ${kind}`);
    }
    at += 1;
    add(cells);
  }
  return at;
}

/** The position after the closing quote; a quote inside is doubled. */
function findQuotedEnd(text: string, from: number) {
  let at = text.indexOf('"', from + 1) + 1;
  while (at > 0 && text.charCodeAt(at) === quote) at = text.indexOf('"', at + 1) + 1;
  return at;
}

const unquoted = (cell: string) => (/["\\]/.test(cell) ? cell.replace(/(["\\])\1/g, '$1') : cell);
