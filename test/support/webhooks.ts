import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { deliverySettings } from '../../src/plugins/delivery/settings.ts';
import { schedule } from '../../src/plugins/delivery/webhooks/attempt.ts';
import { startWebhooks } from '../../src/plugins/delivery/webhooks/deliveries.ts';
import type { CallPolicy } from '../../src/plugins/delivery/webhooks/outgoing-target.ts';
import {
  config,
  emptyTestApp,
  openTestApp,
  openTestDatabase,
  ownDatabase,
  settings,
  toPluginConfig,
  type Provider,
  type TestApp,
  sendingBy,
} from './test-app.ts';

/** A test app on a database without providers, since a worker delivers to the webhooks of all providers. */
export async function openWebhookTestApp(allow?: string[]) {
  if (allow === undefined) return { ...(await emptyTestApp()), policy: config.of(deliverySettings).callPolicy };
  const name = await ownDatabase();
  const own = toPluginConfig({ WEBHOOK_ALLOW: allow.join() });
  const testApp = await openTestApp(openTestDatabase(name), { config: own });
  onTestFinished(testApp.close);
  return { ...testApp, name, policy: own.of(deliverySettings).callPolicy };
}

type Body = { type: string; timestamp: string; data: Record<string, any> };
type ReceivedMessage = {
  id: string;
  headers: IncomingHttpHeaders;
  body: Body;
  /** The body as it was received. */
  text: string;
};
/** Answers the n-th message, from 1: by the status that it returns, or by itself. */
export type Answer = (message: ReceivedMessage, n: number, response: ServerResponse) => unknown;

/** An endpoint on an address of this machine, closed after the test. It accepts everything by default. */
export async function startReceiver(answer: Answer = () => 204, address = '127.0.0.1') {
  const received: ReceivedMessage[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { headers } = request;
      const body = JSON.parse(text) as Body;
      const message = { id: String(headers['webhook-id']), headers, body, text };
      received.push(message);
      void Promise.resolve(answer(message, received.length, response)).then((status) => {
        if (typeof status === 'number') response.writeHead(status).end();
      });
    });
  });
  await new Promise<void>((ready) => server.listen(0, address, ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { received, port, url: `http://${address}:${port}/hooks`, types: () => received.map(({ body }) => body.type) };
}
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

const defaults = { ...schedule };
/** Pauses of a tenth of a second, and time for a receiver that waits for a state. */
const quick = { ...defaults, retries: [0.1], pollMs: 20, renewMs: 200, attemptTimeoutMs: 60_000 };

/** A worker of all webhooks of the app, stopped after the test; its times are those of all workers. */
export function startWebhookWorker(
  { database, policy = config.of(deliverySettings).callPolicy }: Pick<TestApp, 'database'> & { policy?: CallPolicy },
  times: Partial<typeof schedule> = {},
) {
  Object.assign(schedule, quick, times);
  onTestFinished(() => void Object.assign(schedule, defaults));
  const log: string[] = [];
  const logAt = (level: string) => (line: unknown) => void log.push(`${level}: ${String(line)}`);
  const worker = startWebhooks({
    database,
    settings,
    policy,
    log: { info: logAt('info'), warn: logAt('warn'), error: logAt('error') } as never,
  });
  onTestFinished(worker.stop);
  return { log, stop: worker.stop };
}

/** The app with a database that counts the statements of workers which have ended, by name. */
export function countStatements<App extends Pick<TestApp, 'database'>>({ database, ...rest }: App) {
  const ended = new Map<string, number>();
  const query = async (...args: [never]) => {
    const result = await (database.pool.query(...args) as unknown as Promise<unknown>);
    const { name } = args[0] as { name: string };
    ended.set(name, countOf(name) + 1);
    return result;
  };
  const countOf = (name: string) => ended.get(name) ?? 0;
  return {
    ...rest,
    database: sendingBy(database, query),
    /** Waits until as many more have ended. */
    waitForMore(name: string, count: number) {
      const before = countOf(name);
      return expect.poll(() => countOf(name)).toBeGreaterThanOrEqual(before + count);
    },
  };
}

/** Waits for two claims: the second one began after this call. */
export const waitForClaim = (app: { waitForMore(name: string, count: number): Promise<void> }) =>
  app.waitForMore('claim_webhooks', 2);

type CreatedWebhook = { id: number; secret: string } & Record<string, unknown>;

export async function createWebhook(me: Provider, fields: object): Promise<CreatedWebhook> {
  const response = await me.post('/v2/webhooks', fields);
  if (response.status !== 201) throw new Error(`no webhook: ${response.text}`);
  return response.json<CreatedWebhook>();
}

/** A webhook's attempts, newest first. */
export const attemptsOf = async (me: Provider, id: number) =>
  (await me.get(`/v2/webhooks/${id}/deliveries`)).json<Record<string, any>[]>();

export const createTag = async (me: Provider, title: string) => {
  const response = await me.post('/v2/course-tags', { title });
  return response.json<{ id: number }>().id;
};

/** Verifies a message by the text of Standard Webhooks, without its library. */
export function isSignedBy(secret: string, { headers, text }: Pick<ReceivedMessage, 'headers' | 'text'>) {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${text}`;
  const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(expected);
}
