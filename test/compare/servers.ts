import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { Agent, request as httpRequest, type RequestOptions } from 'node:http';
import { join, resolve } from 'node:path';
import { keyProfiles, type KeyProfile } from '../../src/core/api-key.ts';
import type { Cleanup } from '../reliability/scenario.ts';
import { temporaryFolder } from '../reliability/support/folder.ts';
import { startServer, stop, type Server } from '../reliability/support/server.ts';
import { parse, type Answer } from './differences.ts';

export type Keys = Record<KeyProfile | 'wrong', string>;
/** The course user of the demo data who signs in. */
export const signIn = { id: 20, password: 'fjord og fjell' };

/** Nothing listens there. */
export const webhookUrl = 'http://127.0.0.1:1029/';

const host = 'booking.example';
const settings = {
  ...{ DATABASE_URL: 'embedded', DEMO_DATA: 'true', LOG_LEVEL: 'error' },
  ...{ PUBLIC_URL: `http://${host}`, INVALID_KEYS_PER_MINUTE: '1000000', PUBLISHABLE_RATE_PER_ADDRESS: '0' },
  // Which mails and changes are sent by a given time depends on the machine.
  ...{ MAIL_TO_FILES: 'false', WEBHOOKS: 'off', WEBHOOK_ALLOW: '127.0.0.1' },
};

/** Starts a server of each build on its own copy of one database, which the first build has made. */
export async function startServers(run: Cleanup, builds: string[]) {
  const folder = temporaryFolder(run);
  // PostgreSQL does not run as root, so its files belong to another user.
  chmodSync(folder, 0o755);
  const seed = join(folder, 'seed');
  const keys = await makeSeed(run, builds[0]!, seed);
  const ports: number[] = [];
  for (const [n, build] of builds.entries()) {
    const copy = join(folder, String(n));
    execFileSync('cp', ['-a', seed, copy]);
    ports.push((await startBuild(run, build, copy)).port);
  }
  return { keys, ports };
}

async function startBuild(run: Cleanup, build: string, dataFolder: string): Promise<Server> {
  const { scripts } = JSON.parse(readFileSync(join(build, 'package.json'), 'utf8')) as { scripts: { start: string } };
  const command = ['sh', '-c', `cd '${resolve(build)}' && ${scripts.start}`];
  const server = await startServer(run, { ...settings, DATA_DIR: dataFolder }, { command });
  // A server that is killed leaves its database to end by itself.
  run.onCleanup(() => stop(server));
  return server;
}

/** Makes a database with the demo data, and a key of each profile. */
async function makeSeed(run: Cleanup, build: string, dataFolder: string): Promise<Keys> {
  mkdirSync(dataFolder);
  const server = await startBuild(run, build, dataFolder);
  const env = { PATH: process.env['PATH'], ...settings, DATA_DIR: dataFolder };
  const cli = (args: string[], input = '') =>
    execFileSync(process.execPath, ['dist/cli.js', ...args, '--provider', '1', '--json'], { cwd: build, env, input });
  const createKey = (profile: string) => {
    const origins = profile === 'publishable' ? ['--origins', 'https://school.example'] : [];
    return (JSON.parse(String(cli(['key', 'create', '--profile', profile, ...origins]))) as { api_key: string })
      .api_key;
  };
  const keys = keyProfiles.map((profile) => [profile, createKey(profile)]);
  cli(['user', 'set-password', '--user', String(signIn.id)], signIn.password);
  await stop(server);
  return { ...Object.fromEntries(keys), wrong: `cbs_${'x'.repeat(40)}` } as Keys;
}

/** The answers of one server so far by the names of their requests. */
export type Own = Record<string, any>;
/** Its texts may name members of earlier answers of the same server: `{order.lines.0.id}`. */
export type Request = {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
  /** That of the demo school unless given; null for none. */
  key?: keyof Keys | null;
  /** The name by which later requests find the answer. */
  name?: string;
};
export type Step = Request | ((own: Own) => Request);

/** A member that is the whole of a JSON text replaces its quotes, too. */
const insertMembers = (text: string, own: Own) =>
  text.replaceAll(/("?)\{(\w+(?:\.\w+)+)\}\1/g, (_found, quote: string, path: string) => {
    const value = path.split('.').reduce((node, name) => node[name], own) as unknown;
    return quote === '' ? String(value) : JSON.stringify(value);
  });

/** Sends requests to one server, and remembers its answers. Status 0: it could not be sent, or had no answer. */
export function createSender(run: Cleanup, port: number, keys: Keys) {
  const agent = new Agent({ keepAlive: true });
  run.onCleanup(() => agent.destroy());
  const own: Own = {};
  const transmit = (options: RequestOptions, body?: string) =>
    new Promise<Answer>((done, failed) => {
      const outgoing = httpRequest({ port, host: '127.0.0.1', agent, ...options }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', failed);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          done({ status: response.statusCode!, headers: response.headers, text });
        });
      });
      outgoing.on('error', failed).end(body);
    });
  return async (step: Step) => {
    let text = 'A request that follows from earlier answers';
    try {
      const { method = 'GET', key = 'full', name, ...sent } = typeof step === 'function' ? step(own) : step;
      text = `${method}${key === 'full' ? '' : ` with ${key ?? 'no'} key`} ${sent.path} ${sent.body ?? ''}`;
      const named = Object.entries({ host, ...sent.headers }).map(([header, value]) => [
        header,
        insertMembers(value, own),
      ]);
      const headers = { ...(key && { 'x-api-key': keys[key] }), ...(Object.fromEntries(named) as object) };
      const body = sent.body && insertMembers(sent.body, own);
      const answer = await transmit({ method, path: insertMembers(sent.path, own), headers }, body);
      if (name !== undefined) own[name] = parse(answer.text) ?? answer.text;
      if (name !== undefined) own[`${name}_headers`] = { etag: 'none', ...answer.headers };
      const [cookie] = (answer.headers['set-cookie'] as string[] | undefined) ?? [];
      if (cookie) own['session'] = { cookie: cookie.split(';')[0] };
      return { ...answer, request: text };
    } catch (error) {
      return { status: 0, headers: {}, text: (error as Error).message, request: text };
    }
  };
}
