import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg';
import { isPreparedStatementError } from '../core/database-errors.ts';

type Query = [query: QueryConfig | string, values?: unknown[]];
type Pending = { query: Query; resolve(result: QueryResult): void; reject(error: unknown): void; tries: number };

/** Higher than the number of faults after which statements lose their names. */
const maxTries = 6;

/** Sends the queries of one turn of the event loop, mostly a page's relations, over one connection. */
export function batchQueries(pool: Pool): Pick<Pool, 'query'> {
  let pending: Pending[] = [];

  async function send() {
    const batch = pending;
    pending = [];
    let client: PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    const results = await Promise.allSettled(batch.map((one) => run(client, one)));
    // As the pool does: a connection on which a query failed is not used again.
    client.release(results.some(({ status }) => status === 'rejected'));
  }

  async function run(client: PoolClient, one: Pending) {
    try {
      one.resolve(await client.query(...(one.query as [QueryConfig])));
    } catch (error) {
      if (one.tries < maxTries && isPreparedStatementError(error)) enqueue({ ...one, tries: one.tries + 1 });
      else one.reject(error);
      throw error;
    }
  }

  function enqueue(one: Pending) {
    if (pending.push(one) === 1) process.nextTick(() => void send());
  }

  const query = (...query: Query) =>
    new Promise<QueryResult>((resolve, reject) => enqueue({ query, resolve, reject, tries: 1 }));
  return { query: query as Pool['query'] };
}
