import { execFileSync, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../support/ports.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { succeeds } from '../../support/programs.ts';

const page = readFileSync('docs/guides/webhooks.md', 'utf8');
const blockOf = (language: string) => new RegExp('```' + language + '\\n(.*?)```', 's').exec(page)![1]!;

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const body = '{"type":"tag.created","data":{"resource_id":7,"item":{"title":"Blåtur € 🚲"}}}';

type Signed = { id?: string; secrets?: string[]; at?: number; signedBody?: string };
function headersOf({ id = 'evt_1_2', secrets = [secret], at = Date.now(), signedBody = body }: Signed = {}) {
  const signatures = secrets.map((one) => new Webhook(one).sign('evt_1_2', new Date(at), signedBody));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': signatures.join(' '),
  };
}

const receivers = [
  ['php', 'hooks.php', (port: number) => ['php', '-S', `127.0.0.1:${port}`, 'hooks.php'], `php -r 'exit(0);'`],
  ['ts', 'hooks.mts', () => [resolve('node_modules/.bin/tsx'), 'hooks.mts'], 'true'],
  ['python', 'hooks.py', () => ['python3', '-u', 'hooks.py'], 'python3 --version'],
] as const;

/** The receiver of the page as a process, and a client that sends it the message with headers. */
async function startSample([language, file, command]: (typeof receivers)[number], WEBHOOK_SECRET: string) {
  const [folder, port] = [temporaryFolder(), await freePort()];
  writeFileSync(join(folder, file), blockOf(language));
  const [program, ...args] = command(port);
  const env = { PATH: process.env['PATH'] ?? '', WEBHOOK_SECRET, PORT: String(port) };
  // A process group, since tsx starts a process of its own.
  const child = spawn(program!, args, { cwd: folder, env, detached: true });
  onTestFinished(() => void process.kill(-child.pid!, 'SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => void (output += chunk.toString()));
  const send = async (headers: Record<string, string>) => {
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body });
    return response.status;
  };
  await expect.poll(() => send({}).catch(() => 0)).toBeGreaterThan(0);
  return { send, output: () => output };
}

const samplesRun = new Set<string>();
afterAll(() => console.log(`${samplesRun.size} samples run of docs/guides/webhooks.md`));

test.for(receivers)('the receiver in %s accepts signed messages alone', async (receiver, { skip }) => {
  if (!succeeds(receiver[3])) return skip(`${receiver[0]} is missing`);
  const { send, output } = await startSample(receiver, secret);
  expect(await send(headersOf())).toBe(204);
  await expect.poll(output).toContain('tag.created 7');
  expect(await send(headersOf({ secrets: [other, secret] }))).toBe(204);
  const refused = [
    {},
    headersOf({ secrets: [other] }),
    headersOf({ id: 'evt_1_3' }),
    headersOf({ at: Date.now() - 360_000 }),
    headersOf({ signedBody: `${body} ` }),
    { ...headersOf(), 'webhook-timestamp': 'x' },
  ];
  for (const headers of refused) expect(await send(headers), JSON.stringify(headers)).toBe(400);
  samplesRun.add(receiver[1]);
});

test.for(receivers)('without a secret the receiver in %s accepts nothing', async (receiver, { skip }) => {
  if (!succeeds(receiver[3])) return skip(`${receiver[0]} is missing`);
  const { send } = await startSample(receiver, '');
  const time = String(Math.floor(Date.now() / 1000));
  const forged = createHmac('sha256', '').update(`evt_1_2.${time}.${body}`).digest('base64');
  const headers = { 'webhook-id': 'evt_1_2', 'webhook-timestamp': time, 'webhook-signature': `v1,${forged}` };
  expect(await send(headers)).toBe(500);
});

test('the signature by hand is the one of the library', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'body.json'), body);
  const headers = headersOf();
  const env = {
    PATH: process.env['PATH'] ?? '',
    SECRET: secret,
    ID: 'evt_1_2',
    TIMESTAMP: headers['webhook-timestamp'],
  };
  const printed = execFileSync('sh', ['-c', blockOf('console')], { cwd: folder, env, encoding: 'utf8' });
  expect(`v1,${printed.trim()}`).toBe(headers['webhook-signature']);
  samplesRun.add('signature');
});
