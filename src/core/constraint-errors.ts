import { getFailure } from '../database/errors.ts';
import type { Problem } from './errors.ts';

/** Turns a constraint that the database upheld into the problem it stands for, by the constraint's name. */
export async function mapConstraintErrors<T>(rules: Record<string, () => Problem>, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const failure = getFailure(error);
    const rule = failure?.kind === 'rule' ? rules[failure.constraint] : undefined;
    throw rule ? rule() : error;
  }
}
