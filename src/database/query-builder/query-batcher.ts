import { isPreparingFault } from '../errors.ts';
import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg';

type Asked = [query: QueryConfig | string, values?: unknown[]];
/** More often than connections may fail before statements go without names. */
const maxTries = 6;

type Waiting = { asked: Asked; done(result: QueryResult): void; failed(error: unknown): void; tries: number };

/**
 * Asks all that is asked in one turn of the event loop, mostly a page's relations, over one connection, where it leaves in
 * one piece: waking the database once more costs more than a small statement, and so does taking a connection.
 */
export function batchQueries(pool: Pool): Pick<Pool, 'query'> {
  let waiting: Waiting[] = [];

  async function send() {
    const batch = waiting;
    waiting = [];
    let client: PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      for (const { failed } of batch) failed(error);
      return;
    }
    const all = await Promise.allSettled(
      batch.map(async ({ asked, done, failed, tries }) => {
        try {
          done(await client.query(...(asked as [QueryConfig])));
        } catch (error) {
          if (tries < maxTries && isPreparingFault(error)) ask({ asked, done, failed, tries: tries + 1 });
          else failed(error);
          throw error;
        }
      }),
    );
    // As the pool does it: a connection on which anything failed is not used again.
    client.release(all.some(({ status }) => status === 'rejected'));
  }

  function ask(one: Waiting) {
    if (waiting.push(one) === 1) process.nextTick(() => void send());
  }

  const query = (...asked: Asked) => new Promise<QueryResult>((done, failed) => ask({ asked, done, failed, tries: 1 }));
  return { query } as unknown as Pool;
}
