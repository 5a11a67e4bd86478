/** Bound of a statement about a page: it is parsed in far less than 100 ms. */
export const defaultResultBound = { rows: 5_000, bytes: 4_000_000 };
/** Bound of a statement about one row, which cannot be split: the size of a response. */
export const maxResultBound = { rows: 50_000, bytes: 16_000_000 };
/** Bound of reading a row after a write, which may have made it a little larger than `maxResultBound`. */
export const resultBoundAfterWrite = { rows: 2 * maxResultBound.rows, bytes: 2 * maxResultBound.bytes };
export type ResultBound = typeof defaultResultBound;

/** Name prefixes of prepared statements whose result is bounded: of a page, of one item, of an item after a write. */
export const statementPrefix = { page: 'r_', item: 'r_m_', afterWrite: 'r_w_' };

/** A statement exceeded its bound, or all statements of a response its budget. */
export class ResultTooLarge extends Error {
  constructor() {
    super('the result is larger than its bound');
  }
}

/** Size in bytes of each result, set by the row decoder. */
export const bytesRead = new WeakMap<object, number>();
