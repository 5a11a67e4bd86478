import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import { pause, percentile, type Scenario, type Run } from '../scenario.ts';
import type { HttpResponse, Client } from '../support/client.ts';
import { createClient } from '../support/client.ts';
import { freePort } from '../../support/ports.ts';
import { createSchools } from '../support/school.ts';
import { startServer } from '../support/server.ts';

/** Milliseconds. */
const limits = { write: 2_000, signOn: 2_000, mail: 10_000 };

/** Sends requests over these connections until the work is done; returns its result. */
async function underLoad<T>(connections: number, send: (n: number) => Promise<HttpResponse>, work: () => Promise<T>) {
  let isOver = false;
  let n = 0;
  const sending = Array.from({ length: connections }, async () => {
    while (!isOver) {
      const { status } = await send((n += 1));
      // A client rejected immediately would only measure the speed of rejections.
      if (status !== 201 && status !== 200) await pause(50);
    }
  });
  // Until the queues are full.
  await pause(2_000);
  const result = await work();
  isOver = true;
  await Promise.all(sending);
  return result;
}

/** Latencies of sequential requests; Infinity for an unexpected status. */
async function measure(count: number, expected: number, send: (n: number) => Promise<HttpResponse>) {
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const { status, elapsed } = await send(n);
    times.push(status === expected ? elapsed : Infinity);
  }
  return times;
}

/** A slow SMTP server; records the arrival time of each recipient's mail. */
async function slowMailServer(run: Run) {
  const arrived = new Map<string, number>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 100,
    onData(stream, session, done) {
      stream.resume().on('end', () => {
        for (const { address } of session.envelope.rcptTo) arrived.set(address, performance.now());
        setTimeout(done, 100, null, 'accepted');
      });
    },
  });
  server.on('error', () => undefined);
  const port = await freePort();
  await new Promise<void>((ready) => server.listen(port, '127.0.0.1', ready));
  run.onCleanup(() => new Promise<void>((closed) => server.close(closed)));
  return { arrived, url: `smtp://127.0.0.1:${port}` };
}

const course = (client: Client, base: string, title: string) => client.post(`${base}/v2/courses`, { title });
const signOn = (client: Client, base: string, username: string) =>
  client.post(`${base}/v2/check-user-credentials`, { username, password: 'a random guess' });
const invite = (client: Client, base: string, email: string) =>
  client.post(`${base}/v2/admin-users`, { email, firstname: 'Kari', lastname: 'Moen', role_ids: [1] });

const scenario: Scenario = {
  name: 'fairness',
  quick: false,
  async run(run) {
    const { env, all } = await createSchools(run, { count: 6 });
    const mails = await slowMailServer(run);
    const { base } = await startServer(run, { ...env, LOG_LEVEL: 'error', SMTP_URL: mails.url });
    const [victim, bulk, ...others] = all as [(typeof all)[0], (typeof all)[0], ...typeof all];
    const attackers = others.map(({ client }) => {
      const attacker = createClient(client.apiKey, { sockets: 250 });
      run.onCleanup(attacker.close);
      return attacker;
    });
    const first = attackers[0]!;
    const failures: string[] = [];
    const count = run.quick ? 10 : 40;

    /**
     * The limit applies to the victim; the negative control is the attacker's own request, which queues behind its
     * others.
     */
    async function compare(
      name: string,
      bar: number,
      load: () => Promise<{ victimTimes: number[]; attackerTimes: number[] }>,
    ) {
      let { victimTimes, attackerTimes } = await load();
      if (Math.max(...victimTimes) >= bar) ({ victimTimes, attackerTimes } = await load());
      const [longest, control] = [Math.max(...victimTimes), percentile(attackerTimes, 0.5)];
      if (longest >= bar) failures.push(`${name} of another school takes ${Math.round(longest)} ms`);
      if (control <= 2 * percentile(victimTimes, 0.5)) failures.push(`${name} of the busy school is not delayed`);
      const ms = (value: number) => (value === Infinity ? '503' : `${Math.round(value)} ms`);
      return `${name}: median ${ms(percentile(victimTimes, 0.5))}, at most ${ms(longest)} (control ${ms(control)})`;
    }

    let titles = 0;
    const writes = await compare('a write', limits.write, () =>
      underLoad(
        400,
        (n) => course(attackers[n % 4]!, base, `Many ${(titles += 1)}`),
        async () => ({
          victimTimes: await measure(count, 201, () => course(victim.client, base, `One ${(titles += 1)}`)),
          attackerTimes: await measure(3, 201, () => course(first, base, `Own ${(titles += 1)}`)),
        }),
      ),
    );

    let names = 0;
    const signOns = await compare('a sign-on', limits.signOn, () =>
      underLoad(
        250,
        () => signOn(first, base, `random-${(names += 1)}`),
        async () => ({
          victimTimes: await measure(count, 200, () => signOn(victim.client, base, `guest-${(names += 1)}`)),
          attackerTimes: await measure(3, 200, () => signOn(first, base, `own-${(names += 1)}`)),
        }),
      ),
    );

    const people = run.quick ? 300 : 1_000;
    for (const booking of [1, 2]) {
      const participants = Array.from({ length: people }, (_, n) => ({
        ...{ firstname: 'Kari', lastname: `Moen ${n}`, email: `kari-${booking}-${n}@people.example` },
      }));
      const config = { send_receipt_email_to_participant: true };
      const body = { coursedate_id: bulk.dateIds[0]!, payment_method: 'invoice', participants, config };
      const { status, text } = await bulk.client.post(`${base}/v2/booking`, body);
      if (status !== 201) failures.push(`a booking returned ${status} ${text.slice(0, 200)}`);
    }
    const startedAt = performance.now();
    await invite(bulk.client, base, 'own@people.example');
    await invite(victim.client, base, 'one@people.example');
    while (!mails.arrived.has('one@people.example') && performance.now() - startedAt < 3 * limits.mail) await sleep(20);
    const invitation = (mails.arrived.get('one@people.example') ?? Infinity) - startedAt;
    if (invitation >= limits.mail) failures.push(`an invitation of another school takes ${Math.round(invitation)} ms`);
    // Negative control.
    if (mails.arrived.has('own@people.example')) failures.push('the invitation of the busy school is not delayed');

    const receipts = `${2 * people} queued receipts, an invitation after ${Math.round(invitation)} ms`;
    return { figures: [writes, signOns, `${receipts} (control: the attacker's own is delayed)`].join('; '), failures };
  },
};
export default scenario;
