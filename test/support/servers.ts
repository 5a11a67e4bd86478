import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { inject, onTestFinished } from 'vitest';
import { freePort } from './ports.ts';
import { bundleWithoutGuards } from './unguarded.ts';
import { startServer, databaseUrl } from './processes.ts';
import { remoteBases } from './remote-app.ts';
import { createProvider, openTestDatabase, openTestApp, ownDatabase, sharedTestApp } from './test-app.ts';

export type HttpResponse = { status: number; headers: IncomingHttpHeaders; body: any };
export type Caller = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<HttpResponse>;

/** Long enough for a busy machine; no test asserts elapsed time. */
export const longTimeouts = {
  STATEMENT_TIMEOUT_MS: '60000',
  REQUEST_TIMEOUT_MS: '60000',
  KEEP_ALIVE_TIMEOUT_MS: '300000',
};

type Options = { unlocked?: boolean; env?: Record<string, string> };

/**
 * A new database with two server processes, or the servers at TEST_BASE_URL. `unlocked` is the negative control: without
 * lock, queue, the trigger that rejects unlocked writes, and the check of voucher balances.
 */
export async function startServers(options: Options = {}) {
  const isRemote = remoteBases.length > 0 && !options.unlocked;
  const { urls, ...opened } = isRemote ? await openRemoteServers() : await startOwnServers(options);
  const agent = new Agent({ keepAlive: true, maxSockets: 600 });
  onTestFinished(() => agent.destroy());
  return {
    ...opened,
    urls,
    createProvider: (title?: string) => createProvider(opened.testApp.app, opened.database, title),
    /** Sends to the servers in turn, with a provider's key. */
    createCaller: (apiKey: string): Caller => {
      let turn = 0;
      return (method, path, body, headers = {}) =>
        call(agent, `${urls[(turn += 1) % urls.length]!}${path}`, method, body, { 'x-api-key': apiKey, ...headers });
    },
  };
}

async function openRemoteServers() {
  const testApp = await sharedTestApp();
  return { name: inject('shared'), database: testApp.database, testApp, urls: remoteBases };
}

async function startOwnServers({ unlocked = false, env = {} }: Options) {
  const name = await ownDatabase();
  const database = openTestDatabase(name);
  const testApp = await openTestApp(database);
  onTestFinished(() => testApp.close());
  if (unlocked) {
    await database.pool.query('drop function refuse_unlocked cascade');
    await database.pool.query('alter table vouchers drop constraint vouchers_balance');
  }
  // Once: a server that starts while its bundle is written again reads a part of it.
  const program =
    unlocked && (await bundleWithoutGuards('test/support/unlocked-server.ts', ['lock', 'queue', 'voucherBalance']));
  const start = async () => {
    if (program === false)
      return startServer({ DATABASE_URL: databaseUrl(name), LOG_FORMAT: 'pretty', ...longTimeouts, ...env });
    const port = await freePort();
    const command = [process.execPath, program, databaseUrl(name), String(port)];
    const server = await startServer({}, command);
    if (server.child.exitCode !== null) throw new Error(`The unlocked server ended: ${server.errors()}`);
    return { ...server, url: `http://127.0.0.1:${port}` };
  };
  const servers = await Promise.all([start(), start()]);
  return { name, database, testApp, urls: servers.map(({ url }) => url) };
}

function call(agent: Agent, url: string, method: string, body: unknown, headers: Record<string, string>) {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const all = payload === undefined ? headers : { ...headers, 'content-type': 'application/json' };
  return new Promise<HttpResponse>((done, failed) => {
    const request = httpRequest(url, { agent, method, headers: all }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const text = Buffer.concat(parts).toString();
        done({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: text === '' ? null : JSON.parse(text),
        });
      });
      response.on('error', failed);
    });
    request.on('error', failed);
    request.end(payload);
  });
}
