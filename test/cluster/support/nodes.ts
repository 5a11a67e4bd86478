import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isDatabaseServer } from '../../../src/embedded-postgres/processes.ts';
import { waitUntil, type Run } from '../../reliability/scenario.ts';
import { killWithChildren, suspendWithChildren } from '../../reliability/support/postgres.ts';
import { openProxy, type Proxy } from '../../reliability/support/proxy.ts';
import { freePort } from '../../support/ports.ts';
import { adapt, documentedFile } from './configuration.ts';
import { programOptions, startProgram, type Program } from './programs.ts';

const execute = promisify(execFile);

/** A machine with PostgreSQL and Patroni. */
export type DatabaseNode = {
  name: string;
  isSynchronous: boolean;
  ports: { postgres: number; rest: number };
  /** Its connections with etcd and with the other machines. */
  links: { etcd: Proxy; rest: Proxy; postgres: Proxy };
  startPatroni(): void;
  killPatroni(): Promise<void>;
  killPostgres(): Promise<void>;
  /** The process id of PostgreSQL; undefined while it does not run. */
  postmaster(): Promise<number | undefined>;
  /** Stops PostgreSQL while its connections stay open; the returned function continues it. */
  suspendPostgres(): Promise<() => void>;
  isLeader(): Promise<boolean>;
  /** Makes another machine the leader. */
  switchover(): Promise<void>;
};

export async function startEtcd(run: Run, folder: string) {
  const [client, peer] = [await freePort(), await freePort()];
  const text = adapt(documentedFile('/etc/default/etcd'), {
    ...{ '0.0.0.0:2379': `127.0.0.1:${client}`, 'db1:2379': `127.0.0.1:${client}` },
    ...{ '0.0.0.0:2380': `127.0.0.1:${peer}`, 'db1:2380': `127.0.0.1:${peer}` },
    // One member, so that a busy machine does not cause elections.
    ',db2=http://db2:2380,db3=http://db3:2380': '',
    '/var/lib/etcd/booking': join(folder, 'etcd'),
  });
  const variables = Object.fromEntries(text.split('\n').flatMap((line) => [line.split(/=(.*)/s).slice(0, 2)]));
  startProgram(run, folder, 'etcd', ['/usr/bin/etcd'], variables as Record<string, string>);
  const isHealthy = async () => (await statusOf(`http://127.0.0.1:${client}/health`)) === 200;
  if ((await waitUntil(isHealthy, 30_000)) === Infinity) throw new Error(`etcd: ${logOf(folder, 'etcd')}`);
  return client;
}

export async function createNode(
  run: Run,
  folder: string,
  { name, etcd, synchronous }: { name: string; etcd: number; synchronous: boolean },
): Promise<DatabaseNode> {
  const ports = { postgres: await freePort(), rest: await freePort() };
  const links = {
    etcd: await openProxy(run, etcd),
    rest: await openProxy(run, ports.rest),
    postgres: await openProxy(run, ports.postgres),
  };
  const data = join(folder, `${name}-data`);
  const file = join(folder, `${name}.yml`);
  const text = adapt(documentedFile('/etc/patroni/config.yml').replace('name: db1', `name: ${name}`), {
    ...{ '0.0.0.0:8008': `127.0.0.1:${ports.rest}`, 'db1:8008': `127.0.0.1:${links.rest.port}` },
    ...{ '0.0.0.0:5432': `127.0.0.1:${ports.postgres}`, 'db1:5432': `127.0.0.1:${links.postgres.port}` },
    // Patroni does not look for other addresses of etcd, so that it can be cut off from it.
    'hosts: [db1:2379, db2:2379, db3:2379]': `hosts: [127.0.0.1:${links.etcd.port}]\n  use_proxies: true`,
    '/var/lib/postgresql/15/booking': data,
    '/var/lib/postgresql/.pgpass-patroni': join(folder, `${name}.pgpass`),
    '/var/run/postgresql': folder,
    'synchronous_mode: true': `synchronous_mode: ${synchronous}`,
  });
  writeFileSync(file, text);

  let patroni: Program | undefined;
  async function postmaster() {
    const pid = Number(readPid(join(data, 'postmaster.pid')));
    return pid && (await isDatabaseServer(data, pid)) ? pid : undefined;
  }
  async function killPostgres() {
    const pid = await postmaster();
    if (pid !== undefined) await killWithChildren(pid);
  }
  run.onCleanup(killPostgres);
  return {
    ...{ name, isSynchronous: synchronous, ports, links, killPostgres, postmaster },
    startPatroni: () => void (patroni = startProgram(run, folder, name, ['/usr/bin/patroni', file])),
    suspendPostgres: async () => suspendWithChildren((await postmaster())!),
    killPatroni: async () => patroni?.end('SIGKILL'),
    isLeader: async () => (await statusOf(`http://127.0.0.1:${ports.rest}/primary`)) === 200,
    switchover: async () => {
      await execute('/usr/bin/patronictl', ['-c', file, 'switchover', '--force'], programOptions(folder));
    },
  };
}

const readPid = (file: string) => {
  try {
    return readFileSync(file, 'utf8').split('\n')[0];
  } catch {
    return undefined;
  }
};

export async function statusOf(url: string) {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  await response?.arrayBuffer().catch(() => undefined);
  return response?.status;
}

/** The end of a program's log. */
export const logOf = (folder: string, name: string) =>
  readFileSync(join(folder, `${name}.log`), 'utf8')
    .split('\n')
    .slice(-15)
    .join('\n');
