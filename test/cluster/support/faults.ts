import { pause } from '../../reliability/scenario.ts';
import { stop } from '../../reliability/support/server.ts';
import type { DatabaseNode } from './nodes.ts';
import type { ServedCluster } from './cluster.ts';

export type Fault = {
  name: string;
  /** The longest time without an acknowledged write, in milliseconds. */
  outageMs: number;
  /** True if no request may fail. */
  isHitless?: boolean;
  /** Without an acknowledged write for less than these milliseconds, the fault had no effect. */
  minOutageMs?: number;
  /** Values that differ between the start of the fault and its repair; an equal one means that it had no effect. */
  changes?: Record<string, (cluster: ServedCluster) => unknown>;
  /** Time to observe after the fault, before it is repaired. */
  observeMs: number;
  /** A returned function repairs what the cluster does not repair itself. */
  inject(cluster: ServedCluster): Promise<unknown>;
};

const lost = { outageMs: 20_000, observeMs: 30_000 };
const planned = { outageMs: 5_000, observeMs: 8_000 };

const anotherLeader = { leader: async ({ leader }: ServedCluster) => (await leader()).name };
const postgresEnds = {
  'processes of PostgreSQL': async ({ nodes }: ServedCluster) =>
    (await Promise.all(nodes.map((node) => node.postmaster()))).join(),
};
const serverEnds = (position: number) => ({
  [`process of server ${position}`]: ({ servers }: ServedCluster) =>
    servers[position]!.hasEnded() ? undefined : servers[position]!.pid,
});
const restarts = (name: 'pooler' | 'databaseBalancer' | 'frontBalancer') => ({
  changes: { [`process of ${name}`]: (cluster: ServedCluster) => cluster[name].pid() },
  inject: (cluster: ServedCluster) => cluster[name].restart(),
});

/** A machine ends: PostgreSQL and Patroni at once. */
async function killMachine(node: DatabaseNode) {
  await Promise.all([node.killPatroni(), node.killPostgres()]);
  return () => node.startPatroni();
}

/** Keeps from the standbys what the leader writes; connections stay open. */
async function stallReplication({ nodes }: ServedCluster) {
  for (const { links } of nodes) await links.postgres.setFault({ kind: 'silent' });
  return async () => {
    for (const { links } of nodes) await links.postgres.setFault({ kind: 'clear' });
  };
}

async function cutOff({ links }: DatabaseNode) {
  for (const link of Object.values(links)) await link.setFault({ kind: 'silent' });
  return async () => {
    for (const link of Object.values(links)) await link.setFault({ kind: 'clear' });
  };
}

/** The leader ends after its standbys have got nothing for that time. */
export const killBehind = (milliseconds: number): Fault => ({
  ...lost,
  name: `the leader killed, its standbys ${milliseconds / 1_000} s behind`,
  outageMs: lost.outageMs + milliseconds,
  changes: { ...anotherLeader, ...postgresEnds },
  inject: async (cluster) => {
    const leader = await cluster.leader();
    const resume = await stallReplication(cluster);
    await pause(milliseconds);
    const repair = await killMachine(leader);
    await resume();
    return repair;
  },
});

export const leaderFaults: Fault[] = [
  {
    ...lost,
    name: 'PostgreSQL of the leader killed',
    changes: postgresEnds,
    inject: async ({ leader }) => (await leader()).killPostgres(),
  },
  {
    ...lost,
    name: 'Patroni of the leader killed',
    changes: anotherLeader,
    inject: async ({ leader }) => {
      const node = await leader();
      await node.killPatroni();
      return () => node.startPatroni();
    },
  },
  {
    ...lost,
    name: 'both killed',
    changes: { ...anotherLeader, ...postgresEnds },
    inject: async ({ leader }) => killMachine(await leader()),
  },
  killBehind(3_000),
  {
    ...lost,
    name: 'the leader cut off from the others',
    changes: anotherLeader,
    inject: async ({ leader }) => cutOff(await leader()),
  },
  {
    ...lost,
    name: 'the synchronous standby hangs',
    minOutageMs: 3_000,
    inject: async ({ synchronousStandby }) => (await synchronousStandby()).suspendPostgres(),
  },
];

export const plannedFaults: Fault[] = [
  {
    ...planned,
    name: 'switchover',
    changes: anotherLeader,
    inject: async ({ leader }) => (await leader()).switchover(),
  },
  { ...planned, name: 'PgBouncer restarted', ...restarts('pooler') },
  { ...planned, name: 'HAProxy before PostgreSQL restarted', ...restarts('databaseBalancer') },
  { ...planned, name: 'HAProxy before the servers restarted', ...restarts('frontBalancer') },
  {
    ...planned,
    name: 'a server killed',
    changes: serverEnds(0),
    inject: async ({ servers, restartServer }) => {
      servers[0]!.signal('SIGKILL');
      return () => restartServer(0);
    },
  },
  {
    ...planned,
    name: 'rolling restart of both servers',
    isHitless: true,
    changes: { ...serverEnds(0), ...serverEnds(1) },
    inject: async ({ servers, restartServer }) => {
      for (const position of servers.keys()) {
        await stop(servers[position]!, 30_000);
        await restartServer(position);
        // Until HAProxy has seen that it is ready.
        await pause(3_000);
      }
    },
  },
];
