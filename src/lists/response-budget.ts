import type { Budget } from '../database/context.ts';
import { Problem } from '../core/errors.ts';
import { retryStaleRead } from './stale-references.ts';

/** Bound of one response: items embedded at any depth, and bytes. */
export const responseBudget = { embedded: 50_000, bytes: 16_000_000 };

/** Bound of each statement: above that of a response, since a write may have made its item a little larger. */
export const statementBound = { rows: 2 * responseBudget.embedded, bytes: 2 * responseBudget.bytes };

/** The statements of a response exceeded its budget. */
export class ResponseTooLarge extends Problem {
  constructor() {
    const message = 'The list is larger than an answer may be (16 MB, 50,000 items with all embedded ones).';
    super('invalid', message, { errors: [{ code: 'response_too_large', message }] });
  }
}

export const newBudget = (): Budget => ({ rows: responseBudget.embedded, bytes: responseBudget.bytes });

/** Subtracts a statement's rows and bytes from the budget, and returns the rows; throws if that is exceeded. */
export function charge<Row>(budget: Budget | undefined, found: { rows: Row[]; bytes: number } | undefined): Row[] {
  if (!found) throw new ResponseTooLarge();
  if (budget) {
    budget.rows -= found.rows.length;
    budget.bytes -= found.bytes;
    if (budget.rows < 0 || budget.bytes < 0) throw new ResponseTooLarge();
  }
  return found.rows;
}

export const itemTooLarge = (id?: number) =>
  Problem.coded(
    'response_too_large',
    `${id === undefined ? 'The item' : `The item ${id}`} is larger than an answer may be (16 MB, 50,000 embedded items). ` +
      'Leave out include[], or read what belongs to it from a list of its own.',
  );

/** Loads an item; throws 400 if it exceeds the budget, which the response to a committed write has not. */
export async function loadOne<T>(
  load: (budget: Budget | undefined) => Promise<T>,
  { id, isAfterWrite = false }: { id: number; isAfterWrite?: boolean },
): Promise<T> {
  try {
    return await retryStaleRead(() => load(isAfterWrite ? undefined : newBudget()));
  } catch (error) {
    throw error instanceof ResponseTooLarge ? itemTooLarge(id) : error;
  }
}

/** The items that are loaded at once where those of a page are too many. */
const sliceSize = 25;

/** Loads as many first items as fit into a response, at once, else in slices, else one by one. */
export async function loadFitting<T>(
  keys: { id: number }[],
  load: (budget: Budget, from: number, to: number, isRetry: boolean) => Promise<T[]>,
): Promise<{ loaded: T[]; count: number }> {
  const loaded: T[] = [];
  let [count, left] = [0, newBudget()];
  for (const size of new Set([keys.length, Math.min(sliceSize, keys.length), 1])) {
    try {
      while (count < keys.length) {
        const [from, to] = [count, Math.min(count + size, keys.length)];
        const slice = await retryStaleRead(async (isRetry) => {
          // Statements of a failed load still charge theirs.
          const budget = { ...left };
          return { items: await load(budget, from, to, isRetry), budget };
        });
        loaded.push(...slice.items);
        [count, left] = [to, slice.budget];
      }
    } catch (error) {
      if (!(error instanceof ResponseTooLarge)) throw error;
    }
  }
  if (count === 0 && keys.length > 0) throw itemTooLarge(keys[0]!.id);
  return { loaded, count };
}
