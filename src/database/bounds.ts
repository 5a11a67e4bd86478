/** The most that one statement of a page reads: so much is parsed in far less than 100 ms. */
export const usualResult = { rows: 5_000, bytes: 4_000_000 };
/** The same for a statement about one row alone, which cannot be divided: as much as an answer may hold. */
export const largestResult = { rows: 50_000, bytes: 16_000_000 };
/** The same for a row that was read within `largestResult` before a write made it a little larger. */
export const resultAfterWrite = { rows: 2 * largestResult.rows, bytes: 2 * largestResult.bytes };
export type ResultBound = typeof usualResult;

/** A statement found more than its bound, or all statements of an answer more than its budget. */
export class ResultTooLarge extends Error {
  constructor() {
    super('the result is larger than its bound');
  }
}

/** How many bytes the rows of a result took; kept beside it, as only the reader of the rows knows. */
export const bytesRead = new WeakMap<object, number>();
