import { Problem } from '../core/errors.ts';

/** A row was merged into another one after a row that references it was read. */
export class StaleReference extends Error {}

const maxRetries = 2;

/** The statements of a read share no snapshot, so it is repeated where a merge comes between two of them. */
export async function retryStaleRead<T>(read: (isRetry: boolean) => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await read(retries > 0);
    } catch (error) {
      if (!(error instanceof StaleReference)) throw error;
      if (retries === maxRetries) throw Problem.unavailable('Too many changes at once, please try again', error);
    }
  }
}
