import { classifyError } from '../database/errors.ts';
import type { Problem } from './errors.ts';

/** Replaces a constraint violation by the problem registered under the constraint's name. */
export async function mapConstraintErrors<T>(problems: Record<string, () => Problem>, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const failure = classifyError(error);
    const toProblem = failure?.kind === 'rule' ? problems[failure.constraint] : undefined;
    throw toProblem ? toProblem() : error;
  }
}
