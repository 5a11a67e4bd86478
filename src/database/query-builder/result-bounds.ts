/** The most that one statement of a page reads: so much is parsed in far less than 100 ms. */
export const defaultResultBound = { rows: 5_000, bytes: 4_000_000 };
/** Bound of a statement about one row, which cannot be split: the size of an answer. */
export const maxResultBound = { rows: 50_000, bytes: 16_000_000 };
/** Bound of reading a row after a write, which may have made it a little larger than `largestResult`. */
export const resultAfterWrite = { rows: 2 * maxResultBound.rows, bytes: 2 * maxResultBound.bytes };
export type ResultBound = typeof defaultResultBound;

/** A statement found more than its bound, or all statements of an answer more than its budget. */
export class ResultTooLarge extends Error {
  constructor() {
    super('the result is larger than its bound');
  }
}

/** Size in bytes of each result; only the row decoder knows it. */
export const bytesRead = new WeakMap<object, number>();
