import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import { pause, percentile, type Row, type Run } from '../row.ts';
import type { Answer, Client } from '../support/client.ts';
import { clientOf } from '../support/client.ts';
import { freePort } from '../../support/ports.ts';
import { makeSchools } from '../support/school.ts';
import { startServer } from '../support/server.ts';

/** Milliseconds. */
const bars = { write: 2_000, signOn: 2_000, mail: 10_000 };

/** Sends requests over these connections until the work is done; returns its result. */
async function during<T>(connections: number, send: (n: number) => Promise<Answer>, work: () => Promise<T>) {
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
async function timesOf(count: number, expected: number, send: (n: number) => Promise<Answer>) {
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const { status, took } = await send(n);
    times.push(status === expected ? took : Infinity);
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
        setTimeout(done, 100, null, 'taken');
      });
    },
  });
  server.on('error', () => undefined);
  const port = await freePort();
  await new Promise<void>((ready) => server.listen(port, '127.0.0.1', ready));
  run.afterwards(() => new Promise<void>((closed) => server.close(closed)));
  return { arrived, url: `smtp://127.0.0.1:${port}` };
}

const course = (client: Client, base: string, title: string) => client.post(`${base}/v2/courses`, { title });
const signOn = (client: Client, base: string, username: string) =>
  client.post(`${base}/v2/check-user-credentials`, { username, password: 'a random guess' });
const invite = (client: Client, base: string, email: string) =>
  client.post(`${base}/v2/admin-users`, { email, firstname: 'Kari', lastname: 'Moen', role_ids: [1] });

const row: Row = {
  name: 'fairness',
  quick: true,
  async run(run) {
    const { env, all } = await makeSchools(run, { count: 6 });
    const mails = await slowMailServer(run);
    const { base } = await startServer(run, { ...env, LOG_LEVEL: 'error', SMTP_URL: mails.url });
    const [victim, bulk, ...others] = all as [(typeof all)[0], (typeof all)[0], ...typeof all];
    const attackers = others.map(({ client }) => {
      const attacker = clientOf(client.apiKey, { sockets: 250 });
      run.afterwards(attacker.close);
      return attacker;
    });
    const first = attackers[0]!;
    const faults: string[] = [];
    const count = run.quick ? 10 : 40;

    /**
     * The limit applies to the victim; the negative control is the attacker's own request, which queues behind its
     * others.
     */
    async function compare(name: string, bar: number, load: () => Promise<{ theirs: number[]; own: number[] }>) {
      let { theirs, own } = await load();
      if (Math.max(...theirs) >= bar) ({ theirs, own } = await load());
      const [longest, control] = [Math.max(...theirs), percentile(own, 0.5)];
      if (longest >= bar) faults.push(`${name} of another school takes ${Math.round(longest)} ms`);
      if (control <= 2 * percentile(theirs, 0.5)) faults.push(`${name} of the busy school does not wait`);
      const ms = (value: number) => (value === Infinity ? '503' : `${Math.round(value)} ms`);
      return `${name}: median ${ms(percentile(theirs, 0.5))}, at most ${ms(longest)} (control ${ms(control)})`;
    }

    let titles = 0;
    const writes = await compare('a write', bars.write, () =>
      during(
        400,
        (n) => course(attackers[n % 4]!, base, `Many ${(titles += 1)}`),
        async () => ({
          theirs: await timesOf(count, 201, () => course(victim.client, base, `One ${(titles += 1)}`)),
          own: await timesOf(3, 201, () => course(first, base, `Own ${(titles += 1)}`)),
        }),
      ),
    );

    let names = 0;
    const signOns = await compare('a sign-on', bars.signOn, () =>
      during(
        250,
        () => signOn(first, base, `random-${(names += 1)}`),
        async () => ({
          theirs: await timesOf(count, 200, () => signOn(victim.client, base, `guest-${(names += 1)}`)),
          own: await timesOf(3, 200, () => signOn(first, base, `own-${(names += 1)}`)),
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
      if (status !== 201) faults.push(`a booking is answered ${status} ${text.slice(0, 200)}`);
    }
    const begun = performance.now();
    await invite(bulk.client, base, 'own@people.example');
    await invite(victim.client, base, 'one@people.example');
    while (!mails.arrived.has('one@people.example') && performance.now() - begun < 3 * bars.mail) await sleep(20);
    const invitation = (mails.arrived.get('one@people.example') ?? Infinity) - begun;
    if (invitation >= bars.mail) faults.push(`an invitation of another school takes ${Math.round(invitation)} ms`);
    // Negative control.
    if (mails.arrived.has('own@people.example')) faults.push('the invitation of the busy school does not wait');

    const receipts = `${2 * people} receipts waiting, an invitation after ${Math.round(invitation)} ms`;
    return { figures: [writes, signOns, `${receipts} (control: the own one waits)`].join('; '), faults };
  },
};
export default row;
