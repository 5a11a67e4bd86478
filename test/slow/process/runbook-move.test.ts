import { cpSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { emptyDatabase } from '../../support/backups.ts';
import { bookingBody } from '../../support/booking.ts';
import { documentedBlocks } from '../../support/documented-blocks.ts';
import { extractToken } from '../../support/mail.ts';
import { databaseUrl, startServer, temporaryFolder } from '../../support/processes.ts';
import { runScript } from '../../support/run-script.ts';
import { startReceiver } from '../../support/webhooks.ts';

// Each starts two servers.
vi.setConfig({ testTimeout: 120_000 });

type Env = Record<string, string>;
type Server = { url: string };
const apiKey = 'key-of-a-school-that-moves-0123456789';
const variables: Env = {
  ...{ PUBLIC_URL: 'https://booking.school.example', TIMEZONE: 'Europe/Oslo', DEMO_DATA: 'false' },
  ...{ MAIL_TO_FILES: 'true', WEBHOOK_ALLOW: '127.0.0.1', LOG_FORMAT: 'json' },
};

async function call<T = unknown>({ url }: Server, method: 'GET' | 'POST', path: string, body?: object) {
  const response = await fetch(`${url}${path}`, {
    ...{ method, headers: { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) } },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return { text, json: JSON.parse(text) as T };
}

/** A host with its folder, and a database that the new host gets empty. */
async function openHost(isEmbedded: boolean) {
  const folder = temporaryFolder();
  const name = isEmbedded ? undefined : await emptyDatabase();
  const env = { ...variables, DATA_DIR: join(folder, 'data'), ...(name && { DATABASE_URL: databaseUrl(name) }) };
  const run = (script: string) => runScript(script.replace('--database booking', `--database ${name}`), env, folder);
  return { folder, env, run, mails: join(env.DATA_DIR, 'mail') };
}

/** The lists as a client reads them. */
const readLists = (server: Server) =>
  Promise.all(
    ['courses', 'coursedates', 'participants', 'orders', 'admin-users'].map(
      async (path) => (await call(server, 'GET', `/v2/${path}`)).text,
    ),
  );

async function createCourse(server: Server, title: string) {
  const { json } = await call<{ course_id: number }>(server, 'POST', '/v2/courses', { title, price_value: 1000 });
  return json.course_id;
}

async function fill(server: Server, receiverUrl: string) {
  await call(server, 'POST', '/v2/webhooks', { url: receiverUrl, payload: 'full', types: ['course.created'] });
  const courseId = await createCourse(server, 'Excel');
  const dates = `/v2/courses/${courseId}/coursedates`;
  const day = { start_at: '2031-06-10', end_at: '2031-06-10' };
  const { json } = await call<{ coursedate_id: number }>(server, 'POST', dates, day);
  await call(server, 'POST', '/v2/booking', bookingBody(json.coursedate_id));
  const person = { email: 'aase@people.example', firstname: 'Åse', lastname: 'Ødegård', role_ids: [1] };
  await call(server, 'POST', '/v2/admin-users', person);
}

const [backup] = documentedBlocks('runbooks', 'Move to another host') as [string];
const [, toDatabase, toEmbedded, check] = documentedBlocks('runbooks', 'Move to another host');

test.each([
  ['a database of its own', toDatabase!, false],
  ['the embedded database', toEmbedded!, true],
])('a school moves to another host with %s by the documented commands', async (_, restore, isEmbedded) => {
  const receiver = await startReceiver();
  const [before, after] = [await openHost(isEmbedded), await openHost(isEmbedded)];
  const first = { BOOTSTRAP_PROVIDER: 'First', BOOTSTRAP_API_KEY: apiKey };
  const old = await startServer({ ...before.env, ...first });
  const { json: start } = await call<{ cursor: string }>(old, 'GET', '/v2/changes');
  await fill(old, receiver.url);
  await expect.poll(() => receiver.types()).toEqual(['course.created']);
  await expect.poll(() => readdirSync(before.mails)).toHaveLength(1);
  const { json: seen } = await call<{ cursor: string }>(old, 'GET', `/v2/changes?since=${start.cursor}`);
  const lastId = await createCourse(old, 'The last change before the move');
  await expect.poll(() => receiver.types()).toHaveLength(2);
  const expected = await readLists(old);
  old.child.kill('SIGTERM');
  expect(await old.ended).toBe(0);

  expect(before.run(backup)).toMatchObject({ status: 0 });
  const [file, list] = readdirSync(join(before.folder, 'backups'));
  renameSync(join(before.folder, 'backups', file!), join(after.folder, 'FILE'));
  renameSync(join(before.folder, 'backups', list!), join(after.folder, 'erasures.jsonl'));
  cpSync(before.mails, join(after.env.DATA_DIR, 'mail'), { recursive: true });
  expect(after.run(restore)).toMatchObject({ status: 0 });

  const moved = await startServer(after.env);
  expect((await fetch(`${moved.url}/ready`)).status).toBe(200);
  expect(await readLists(moved)).toEqual(expected);
  const [doctor, mailList] = check!.split('\n') as [string, string];
  // The PostgreSQL of the tests has `fsync` off.
  const { output: examined } = after.run(doctor);
  expect(examined.match(/^error .*/gm) ?? []).toEqual(isEmbedded ? [] : [expect.stringContaining('fsync is off')]);
  expect(examined).toContain('no difference');
  expect(after.run(mailList).output).toContain('aase@people.example');
  // The link of a mail.
  const [mail] = readdirSync(after.mails);
  const token = extractToken(readFileSync(join(after.mails, mail!), 'utf8').replaceAll('=\r\n', ''));
  expect((await fetch(`${moved.url}/my/password/${token}`)).status).toBe(200);
  // The change feed and the webhook continue with the next change.
  const nextId = await createCourse(moved, 'The first change after the move');
  const since = `/v2/changes?types=course.created&since=${seen.cursor}`;
  const { json: feed } = await call<{ items: { resource_id: number }[] }>(moved, 'GET', since);
  expect(feed.items.map(({ resource_id }) => resource_id)).toEqual([lastId, nextId]);
  await expect.poll(() => receiver.types()).toHaveLength(3);
  expect(receiver.received.at(-1)!.body.data).toMatchObject({ resource_id: nextId });
  const { json: webhooks } = await call<{ id: number }[]>(moved, 'GET', '/v2/webhooks');
  await call(moved, 'POST', `/v2/webhooks/${webhooks[0]!.id}/test`);
  expect(receiver.types()).toHaveLength(4);
  expect(readdirSync(after.mails)).toEqual([mail]);
});
