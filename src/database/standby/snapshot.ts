import type { Pool, PoolClient, QueryResult } from 'pg';
import { queryBuilderOn, type OpenSnapshot, type Reader } from '../reader.ts';

/** Longest wait for a connection of the standby, and for the versions it has. */
export const standbyConnectMs = 500;
/** Longest statement on the standby; the primary runs a longer one again. */
export const standbyStatementMs = 2_000;
/** Time without further attempts after a failed one. */
const pauseMs = 1_000;

type Query = (...args: unknown[]) => Promise<QueryResult>;
type Connection = { db: Reader; hasFailed: boolean };

/**
 * The primary has to be read where the standby lags, is busy or is down. `failover` runs what fails on the standby;
 * `onError` is called with errors of the standby, and `onRead` for each snapshot whose rows were the standby's.
 */
export function createOpenSnapshot(
  pool: Pool,
  failover: Pick<Pool, 'query'>,
  { onError, onRead }: { onError: (error: unknown) => void; onRead: () => void },
): OpenSnapshot {
  let pausedUntil = 0;
  // One query builder for each connection, which looks up the columns of each table once.
  const connections = new WeakMap<PoolClient, Connection>();

  return async function openSnapshot({ providerId, version, shared }) {
    if (performance.now() < pausedUntil) return undefined;
    let client: PoolClient | undefined;
    try {
      client = await pool.connect();
      const check = { ...isCurrent, values: [providerId, version, shared], query_timeout: standbyConnectMs };
      const [, { rows }] = await Promise.all([
        client.query('begin isolation level repeatable read read only'),
        client.query<{ found: boolean }>(check),
      ]);
      if (rows.length === 0) {
        end(client, 'rollback');
        return undefined;
      }
    } catch (error) {
      onError(error);
      client?.release(true);
      pausedUntil = performance.now() + pauseMs;
      return undefined;
    }
    const opened = client;
    const connection = connections.get(opened) ?? connect(opened, failover, onError);
    connections.set(opened, connection);
    return {
      db: connection.db,
      close() {
        if (connection.hasFailed) {
          opened.release(true);
          return;
        }
        onRead();
        end(opened, 'commit');
      },
    };
  };
}

/** A query builder whose statements continue on the primary after an error: its data is newer. */
function connect(client: PoolClient, failover: Pick<Pool, 'query'>, onError: (error: unknown) => void): Connection {
  const query: Query = async (...args) => {
    if (!connection.hasFailed) {
      try {
        return await (client.query as unknown as Query)(...args);
      } catch (error) {
        onError(error);
        connection.hasFailed = true;
      }
    }
    return (failover.query as Query)(...args);
  };
  const db = queryBuilderOn({ query });
  const connection: Connection = { db, hasFailed: false };
  return connection;
}

const end = (client: PoolClient, how: 'commit' | 'rollback') =>
  void client.query(how).then(
    () => client.release(),
    () => client.release(true),
  );

/** One row if the standby has replayed the versions. `shared` ends with the start time of a server, which differs. */
const isCurrent = {
  name: 'standby_is_current',
  text: `select true as found from provider_state p cross join service_state s where p.provider_id = $1
    and p.changed_at >= $2::timestamptz and starts_with($3, concat_ws(' ', s.changed_at, s.xmin) || ' ')`,
};
