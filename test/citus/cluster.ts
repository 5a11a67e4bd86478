import type { Run } from '../reliability/scenario.ts';
import type { Owner } from '../support/isolation.ts';
import { connectTo } from '../cluster/support/roles.ts';
import { addSchools, settings, type School } from '../reliability/support/school.ts';
import { startServer, type Server } from '../reliability/support/server.ts';
import { temporaryFolder } from '../reliability/support/folder.ts';

export type CitusCluster = {
  /** `DATABASE_URL` of the coordinator's database. */
  url: string;
  /** Shell commands that stop one of the workers, and start it. */
  stopWorker?: string | undefined;
  startWorker?: string | undefined;
};

/** A distributed database, and the same data on one PostgreSQL server. */
export type Distributed = CitusCluster & {
  plainUrl: string;
  /** Key of the demo school. */
  demoKey: string;
  /** A school with a row in every table. */
  owner: Owner;
  /** Schools that book, on several workers. */
  schools: School[];
};

export async function startServerOn(run: Run, url: string, env: Record<string, string> = {}): Promise<Server> {
  const folder = temporaryFolder(run);
  return startServer(run, { DATABASE_URL: url, TIMEZONE: settings.timezone, DATA_DIR: folder, ...env });
}

/** A server on the cluster. */
export const startCitusServer: typeof startServerOn = (run, url, env) =>
  startServerOn(run, url, { DATABASE_DISTRIBUTED: 'true', ...env });

/** More than by chance have their rows on one worker. */
export const createSchools = (run: Run, url: string) => addSchools(run, url, 8);

export async function query<Row extends object>(url: string, text: string, values: unknown[] = []) {
  const client = await connectTo(url);
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

export type Worker = { host: string; port: number };

/** The shard of a school's row in `provider_state`, with which all of its rows are, and its worker. */
export async function findShard(url: string, { id }: School) {
  const text = `select s.id::text as shard, n.nodename as host, n.nodeport as port
    from (select get_shard_id_for_distribution_column('provider_state'::regclass, $1::bigint) as id) s
    join pg_dist_placement p on p.shardid = s.id
    join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'`;
  const [found] = await query<Worker & { shard: string }>(url, text, [id]);
  return found!;
}

export const readWorkers = (url: string) =>
  query<Worker>(
    url,
    `select nodename as host, nodeport as port from pg_dist_node
      where shouldhaveshards and noderole = 'primary' order by nodeid`,
  );

export const nameOf = ({ host, port }: Worker) => `${host}:${port}`;
