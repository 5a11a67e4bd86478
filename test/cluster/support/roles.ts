import { Client } from 'pg';
import { waitUntil } from '../../reliability/scenario.ts';
import { logOf, type DatabaseNode } from './nodes.ts';

export type Roles = {
  /** The machine that is the leader by its own answer. */
  leader(): Promise<DatabaseNode>;
  /** The machine whose confirmation a commit waits for. */
  synchronousStandby(): Promise<DatabaseNode>;
  /** Transactions on the standbys in the database of the servers. */
  standbyCommits(): Promise<number>;
  /** Waits for a leader and two standbys that stream from it. */
  waitUntilComplete(): Promise<void>;
};

export async function connectTo(url: string) {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 30_000 });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

type Standby = { name: string; state: string; mode: string };
const commits = `select xact_commit::int as commits from pg_stat_database where datname = 'booking'`;
const standbys = 'select application_name as name, state, sync_state as mode from pg_stat_replication';

/** `adminUrl` leads to the leader. */
export function rolesOf(nodes: DatabaseNode[], adminUrl: string, folder: string): Roles {
  const readStandbys = async () => {
    const client = await connectTo(adminUrl).catch(() => undefined);
    const result = await client?.query<Standby>(standbys).catch(() => undefined);
    await client?.end().catch(() => undefined);
    return result?.rows ?? [];
  };
  const isComplete = async () => {
    const found = await readStandbys();
    const isConfirmed = nodes.every(({ isSynchronous }) => !isSynchronous) || found.some(({ mode }) => mode === 'sync');
    return found.length === 2 && found.every(({ state }) => state === 'streaming') && isConfirmed;
  };
  return {
    leader: async () => {
      let found: DatabaseNode | undefined;
      const find = async () => {
        for (const node of nodes) if (await node.isLeader()) found = node;
        return found !== undefined;
      };
      if ((await waitUntil(find, 60_000)) === Infinity) throw new Error('no machine is the leader');
      return found!;
    },
    synchronousStandby: async () => {
      const name = (await readStandbys()).find(({ mode }) => mode === 'sync')?.name;
      return nodes.find((node) => node.name === name)!;
    },
    standbyCommits: async () => {
      let sum = 0;
      for (const node of nodes) {
        if (await node.isLeader()) continue;
        const url = new URL(adminUrl);
        url.port = String(node.ports.postgres);
        const client = await connectTo(url.href);
        const { rows } = await client.query<{ commits: number }>(commits);
        await client.end();
        sum += rows[0]!.commits;
      }
      return sum;
    },
    waitUntilComplete: async () => {
      if ((await waitUntil(isComplete, 180_000)) === Infinity)
        throw new Error(nodes.map(({ name }) => logOf(folder, name)).join('\n'));
    },
  };
}
