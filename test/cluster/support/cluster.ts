import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { waitUntil, type Run } from '../../reliability/scenario.ts';
import { startServer, type Server } from '../../reliability/support/server.ts';
import { freePort } from '../../support/ports.ts';
import { adapt, documentedFile, statementsOf, variablesOf } from './configuration.ts';
import { createNode, logOf, startEtcd, statusOf, type DatabaseNode } from './nodes.ts';
import { owner, startProgram, type Program } from './programs.ts';
import { connectTo, rolesOf, type Roles } from './roles.ts';

type Restartable = { pid(): number; restart(): Promise<void> };

export type Cluster = Roles & {
  folder: string;
  /** The addresses of the page on one machine, and their ports here. */
  ports: Record<string, string>;
  nodes: DatabaseNode[];
  /** `DATABASE_URL` of the leader, past PgBouncer. */
  directUrl: string;
  /** `directUrl` with the role of a superuser. */
  adminUrl: string;
  connect(): Promise<Client>;
  pooler: Restartable;
  databaseBalancer: Restartable;
};

export type ServedCluster = Cluster & {
  /** Address of the HAProxy that clients reach. */
  base: string;
  frontBalancer: Restartable;
  servers: Server[];
  /** Starts a server again that has ended. */
  restartServer(position: number, variables?: Record<string, string>): Promise<void>;
};

/** Three PostgreSQL under Patroni with etcd, behind PgBouncer and HAProxy, and the empty database `booking`. */
export async function startCluster(run: Run, { synchronous = true } = {}): Promise<Cluster> {
  const folder = clusterFolder(run);
  const etcd = await startEtcd(run, folder);
  const nodes: DatabaseNode[] = [];
  for (const name of ['db1', 'db2', 'db3']) nodes.push(await createNode(run, folder, { name, etcd, synchronous }));
  nodes[0]!.startPatroni();
  if ((await waitUntil(() => nodes[0]!.isLeader(), 120_000)) === Infinity)
    throw new Error(`no leader: ${logOf(folder, 'db1')}`);
  for (const node of nodes.slice(1)) node.startPatroni();

  const [leaderPort, standbyPort, poolerPort] = [await freePort(), await freePort(), await freePort()];
  const addresses = { '127.0.0.1:5000': `127.0.0.1:${leaderPort}`, '127.0.0.1:5001': `127.0.0.1:${standbyPort}` };
  const databaseBalancer = await startBalancer(run, folder, 'database', {
    file: documentedFile('/etc/haproxy/haproxy.cfg on app1 and app2'),
    replacements: { ...addresses, ...Object.fromEntries(nodes.map(checkedAddress)) },
  });
  const pooler = startPooler(run, folder, { leaderPort, poolerPort });
  const adminUrl = `postgres://postgres:superuser-password@127.0.0.1:${leaderPort}/postgres`;
  const directUrl = `postgres://booking:booking-password@127.0.0.1:${leaderPort}/booking`;
  const roles = rolesOf(nodes, adminUrl, folder);
  await roles.waitUntilComplete();
  const admin = await connectTo(adminUrl);
  for (const statement of statementsOf(documentedFile('as postgres'))) await admin.query(statement);
  await admin.end();
  const ports = { '127.0.0.1:6432': `127.0.0.1:${poolerPort}`, ...addresses };
  return {
    ...{ folder, ports, nodes, ...roles, directUrl, adminUrl, pooler, databaseBalancer },
    connect: () => connectTo(directUrl),
  };
}

function clusterFolder(run: Run) {
  const folder = mkdtempSync(join(tmpdir(), 'booking-cluster-'));
  chmodSync(folder, 0o755);
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  run.onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** HAProxy reaches a machine also when the others do not. */
const checkedAddress = ({ name, ports }: DatabaseNode) => [
  `${name}:5432 check port 8008`,
  `127.0.0.1:${ports.postgres} check port ${ports.rest}`,
];

function startPooler(run: Run, folder: string, ports: { leaderPort: number; poolerPort: number }): Restartable {
  const users = join(folder, 'userlist.txt');
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(users, '"booking" "booking-password"\n');
  const replacements = {
    'port=5000': `port=${ports.leaderPort}`,
    'listen_port = 6432': `listen_port = ${ports.poolerPort}`,
    '/etc/pgbouncer/userlist.txt': users,
  };
  writeFileSync(file, adapt(documentedFile('/etc/pgbouncer/pgbouncer.ini'), replacements));
  return restartable(() => startProgram(run, folder, 'pgbouncer', ['/usr/sbin/pgbouncer', file]));
}

async function startBalancer(
  run: Run,
  folder: string,
  name: string,
  { file, replacements }: { file: string; replacements: Record<string, string> },
): Promise<Restartable> {
  const path = join(folder, `haproxy-${name}.cfg`);
  writeFileSync(path, adapt(file, replacements));
  return restartable(() => startProgram(run, folder, `haproxy-${name}`, ['/usr/sbin/haproxy', '-db', '-f', path]));
}

function restartable(start: () => Program): Restartable {
  let program = start();
  return {
    pid: () => program.pid,
    restart: async () => {
      await program.end('SIGTERM');
      program = start();
    },
  };
}

/** Two servers behind PgBouncer, and HAProxy before them. */
export async function startServers(
  run: Run,
  cluster: Cluster,
  variables: Record<string, string> = {},
): Promise<ServedCluster> {
  const { folder, ports } = cluster;
  const documented = variablesOf(adapt(documentedFile('/etc/booking/environment'), ports));
  const start = (port?: number, more: Record<string, string> = {}) =>
    startServer(
      run,
      { ...documented, LOG_FORMAT: 'json', DATA_DIR: folder, ...variables, ...more },
      port ? { port } : {},
    );
  const servers = [await start(), await start()];
  const port = await freePort();
  const frontBalancer = await startBalancer(run, folder, 'front', {
    file: documentedFile('/etc/haproxy/haproxy.cfg on the machine that clients reach'),
    replacements: {
      '0.0.0.0:80': `127.0.0.1:${port}`,
      'app1:3000': `127.0.0.1:${servers[0]!.port}`,
      'app2:3000': `127.0.0.1:${servers[1]!.port}`,
    },
  });
  const base = `http://127.0.0.1:${port}`;
  await waitUntil(async () => (await statusOf(`${base}/ready`)) === 200, 10_000);
  return {
    ...{ ...cluster, base, frontBalancer, servers },
    restartServer: async (position, more) => {
      if ((await waitUntil(() => servers[position]!.hasEnded(), 30_000)) === Infinity)
        throw new Error(`server ${position} has not ended`);
      servers[position] = await start(servers[position]!.port, more);
    },
  };
}
