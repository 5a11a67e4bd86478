import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { failedChecks, pause, percentile, type Run, type Scenario } from '../scenario.ts';
import { startReceiver, type Receiver } from '../support/receivers.ts';
import { createSchools, type School, type Schools } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import { createWebhook, withReceivers } from '../support/webhooks.ts';

const [slowSchools, perSchool, testCallers] = [6, 20, 8];
/** Milliseconds. */
const limits = { message: 2_000, test: 3_000 };
const slowAnswerMs = 6_000;

const scenario: Scenario = {
  name: 'fairness of webhooks',
  quick: false,
  async run(run) {
    const schools = await createSchools(run, { count: slowSchools + 3 });
    const server = await startServer(run, withReceivers(schools));
    const attack = await prepare(run, schools, server);
    const seconds = run.quick ? 20 : 120;
    const seen = await observe(attack, seconds);
    const client = await schools.postgres.connect('schools');
    await client.query(readClaimWithoutShares());
    await client.query('update webhooks set slow_attempts = 0');
    await client.end();
    const control = await observe(attack, run.quick ? 12 : 30);

    const ms = (value: number) => `${Math.round(value)} ms`;
    const [p99, longest] = [percentile(seen.delays, 0.99), Math.max(...seen.tests)];
    const controlP99 = percentile(control.delays, 0.99);
    return {
      figures: `${slowSchools} schools with ${perSchool} receivers each that take ${slowAnswerMs / 1_000} s, ${perSchool} that hang on the host of another school, ${testCallers} callers of tests (${seen.testsOfAttacker} sent): p99 delay of ${seen.delays.length} messages of two other schools ${ms(p99)}, longest of ${seen.tests.length} tests of one ${ms(longest)}; control, places not shared by school: p99 ${ms(controlP99)}`,
      failures: failedChecks({
        [`p99 of another school is below ${limits.message} ms (${ms(p99)})`]: p99 < limits.message,
        [`its test takes less than ${limits.test} ms (${ms(longest)})`]: longest < limits.test,
        'its tests succeed': seen.failedTests === 0,
        'slow receivers get messages': seen.slowMessages > slowSchools,
        [`control: without shares by school the delay is longer (${ms(controlP99)})`]: controlP99 >= limits.message,
      }),
    };
  },
};
export default scenario;

type Attack = Awaited<ReturnType<typeof prepare>>;

/** A server on all addresses of the loopback network, each of which is a host of its own. */
async function startHosts(run: Run, answerMs: number) {
  let messages = 0;
  const server = createServer((request, response) => {
    messages += 1;
    request.resume();
    setTimeout(() => response.writeHead(204).end(), answerMs).unref();
  });
  await once(server.listen(0, '0.0.0.0'), 'listening');
  run.onCleanup(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { urlAt: (address: string) => `http://${address}:${port}/hooks`, messages: () => messages };
}

async function prepare(run: Run, { all }: Schools, { base }: Server) {
  const [onHost, elsewhere, hanging, ...slow] = all as [School, School, School, ...School[]];
  const slowHosts = await startHosts(run, slowAnswerMs);
  const hangingHost = await startHosts(run, 60_000);
  for (const [n, school] of slow.entries())
    for (let hook = 1; hook <= perSchool; hook += 1) {
      const url = slowHosts.urlAt(`127.1.${n + 1}.${hook}`);
      await createWebhook(base, school, { url, payload: 'thin' });
    }
  const hangingIds: number[] = [];
  for (let hook = 1; hook <= perSchool; hook += 1)
    hangingIds.push(await createWebhook(base, hanging, { url: hangingHost.urlAt('127.0.0.2'), payload: 'thin' }));
  const receivers = [await startReceiver(run, '127.0.0.2'), await startReceiver(run, '127.0.0.3')];
  const testedId = await createWebhook(base, onHost, { url: receivers[0]!.url, payload: 'thin' });
  await createWebhook(base, elsewhere, { url: receivers[1]!.url, payload: 'thin' });
  return { base, onHost, elsewhere, hanging, slow, hangingIds, receivers, testedId, slowHosts };
}

let tags = 0;
const change = ({ base }: Attack, { client }: School) =>
  client.post(`${base}/v2/course-tags`, { title: `Change ${(tags += 1)}` });

/** Delays of messages of the other schools, and times of their tests, during the attack. */
async function observe(attack: Attack, seconds: number) {
  const { base, onHost, elsewhere, hanging, slow, hangingIds, receivers, testedId, slowHosts } = attack;
  let isOver = false;
  let testsOfAttacker = 0;
  const repeat = async (pauseMs: number, work: () => Promise<unknown>) => {
    while (!isOver) {
      await work();
      await pause(pauseMs);
    }
  };
  const slowBefore = slowHosts.messages();
  const attackers = [
    ...[hanging, ...slow].map((school) => repeat(1_000, () => change(attack, school))),
    ...Array.from({ length: testCallers }, (_, n) =>
      repeat(50, async () => {
        testsOfAttacker += 1;
        await hanging.client.post(`${base}/v2/webhooks/${hangingIds[n]!}/test`, {});
      }),
    ),
  ];
  // Until their receivers are busy.
  await pause(3_000);
  const counts = receivers.map(({ arrivals }) => arrivals.length);
  const tests: number[] = [];
  let failedTests = 0;
  const others = [
    ...[onHost, elsewhere].map((school) => repeat(400, () => change(attack, school))),
    repeat(1_000, async () => {
      const { status, text, elapsed } = await onHost.client.post(`${base}/v2/webhooks/${testedId}/test`, {});
      tests.push(elapsed);
      if (status !== 200 || !text.includes('"status_code":204')) failedTests += 1;
    }),
  ];
  await pause(seconds * 1_000);
  isOver = true;
  await Promise.all([...attackers, ...others]);
  // Messages that have not arrived yet are late too.
  await pause(limits.message);
  const delays = receivers.flatMap((receiver, n) => delaysFrom(receiver, counts[n]!));
  return { delays, tests, failedTests, testsOfAttacker, slowMessages: slowHosts.messages() - slowBefore };
}

const delaysFrom = ({ arrivals }: Receiver, first: number) =>
  arrivals.slice(first).flatMap(({ messageId, delayMs }) => (messageId.startsWith('evt_') ? [delayMs] : []));

/** The claim of the last migration that has it, without the rules by school. */
function readClaimWithoutShares() {
  const sources = readdirSync('migrations')
    .sort()
    .filter((name) => name.endsWith('.sql'))
    .map((name) => readFileSync(`migrations/${name}`, 'utf8'));
  const source = sources.findLast((text) => text.includes('FUNCTION claim_webhooks('))!;
  const from = source.indexOf('CREATE FUNCTION claim_webhooks(');
  const whole = source.slice(from, source.indexOf('END $$;', from) + 'END $$;'.length);
  const changed = whole
    .replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION')
    .replace(/CONTINUE WHEN free <= 0[^;]*;/, 'CONTINUE WHEN free <= 0 OR of_host >= 2;')
    .replace("WHEN w.slow_attempts >= 3 THEN 'slow'", '');
  if (!changed.includes('WHEN free <= 0 OR of_host >= 2;')) throw new Error('claim_webhooks has changed');
  return changed;
}
