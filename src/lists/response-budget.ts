import type { Budget } from '../database/context.ts';
import { Problem } from '../core/errors.ts';
import { maxResultBound, ResultTooLarge } from '../database/result-bounds.ts';

/** Bound of one response: items embedded at any depth, and bytes. */
export const responseBudget = { embedded: maxResultBound.rows, bytes: maxResultBound.bytes };

/** Counts the rows and bytes that the statements of one response read; throws ResultTooLarge beyond the bound. */
function newBudget(): Budget {
  let { embedded, bytes } = responseBudget;
  const isSpent = () => embedded < 0 || bytes < 0;
  return {
    isExhausted: isSpent,
    usedBytes: () => responseBudget.bytes - bytes,
    take(rows, size) {
      embedded -= rows;
      bytes -= size;
      if (isSpent()) throw new ResultTooLarge();
    },
  };
}

const budgetAfterWrite: Budget = {
  take: () => undefined,
  isExhausted: () => false,
  usedBytes: () => 0,
  isAfterWrite: true,
};

/** Number of list items in a value, at any depth. */
export function embeddedIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = Array.isArray(value) ? value.length : 0;
  for (const member of Object.values(value)) count += embeddedIn(member);
  return count;
}

export const itemTooLarge = (id?: number) =>
  new Problem(
    'invalid',
    `${id === undefined ? 'The item' : `The item ${id}`} is larger than an answer may be (16 MB, 50,000 embedded items). ` +
      'Leave out include[], or read what belongs to it from a list of its own.',
  );

export const listTooLarge = () =>
  new Problem('invalid', 'The list is larger than an answer may be (16 MB, 50,000 items with all embedded ones).');

/** Loads a list without pages; throws 400 if it exceeds the budget. */
export async function loadWhole<T>(load: (budget: Budget) => Promise<T>): Promise<T> {
  try {
    return await load(newBudget());
  } catch (error) {
    throw error instanceof ResultTooLarge ? listTooLarge() : error;
  }
}

/** Loads an item; throws 400 if it exceeds the budget, except after a write, which is committed. */
export async function loadOne<T>(
  load: (budget: Budget) => Promise<T>,
  { id, isAfterWrite = false }: { id: number; isAfterWrite?: boolean },
): Promise<T> {
  try {
    return await load(isAfterWrite ? budgetAfterWrite : newBudget());
  } catch (error) {
    throw error instanceof ResultTooLarge ? itemTooLarge(id) : error;
  }
}

/** Loads as many of the first items as fit into a response, halving their number until they do. */
export async function loadFitting<K extends { id: number }, T>(
  keys: K[],
  load: (budget: Budget, keys: K[]) => Promise<T>,
): Promise<{ loaded: T; count: number; bytes: number }> {
  for (let count = keys.length; ; count = Math.floor(count / 2)) {
    try {
      const budget = newBudget();
      const loaded = await load(budget, keys.slice(0, count));
      return { loaded, count, bytes: budget.usedBytes() };
    } catch (error) {
      if (!(error instanceof ResultTooLarge)) throw error;
      if (count <= 1) throw itemTooLarge(keys[0]?.id);
    }
  }
}
