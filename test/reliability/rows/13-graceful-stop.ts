import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { faultsOf, pause, until, type Row, type Run } from '../row.ts';
import { openBalancer } from '../support/balancer.ts';
import { allFaultsOf, overlookedBy, twiceIfLate, type Checks } from '../support/judge.ts';
import { clientOf } from '../support/client.ts';
import { statusesOf, steadily, type Told } from '../support/load.ts';
import { makeSchools, type Schools } from '../support/school.ts';
import { startServer, stop } from '../support/server.ts';
import { bundle } from '../../support/bundle.ts';

const row: Row = {
  name: 'SIGTERM under load',
  quick: true,
  async run(run) {
    const schools = await makeSchools(run);
    const arrived = await stopBehind(run, schools);
    const stopped = await twiceIfLate(() => stopOne(run, schools), judgeStop);
    const seconds = run.quick ? 2 : 8;
    const replaced = await twiceIfLate(() => replaceOne(run, schools, seconds, 'SIGTERM'), judgeReplaced);

    // Negative controls: a server that exits immediately, a log of a late exit, a truncated response, a killed replica.
    const command = [process.execPath, await bundle('test/reliability/support/naive-server.ts')];
    const hasty = await stopBehind(run, schools, command);
    const cut = await stopOne(run, schools, command);
    const killed = await replaceOne(run, schools, 1, 'SIGKILL');
    const found = [
      ...allFaultsOf(judgeStop(cut)),
      ...allFaultsOf(judgeStop({ ...stopped.seen, took: 10_001 })),
      ...allFaultsOf(judgeStop({ ...stopped.seen, later: await cutAmid(run) })),
      ...allFaultsOf(judgeReplaced(killed)),
    ];
    const { code, took, before, later, told } = stopped.seen;
    const inFlight = before.filter((answer) => answer.asked + answer.took > told).length;
    const failed = (answers: Told[]) => answers.filter((answer) => !isServed(answer)).length;
    return {
      figures: `exit ${code} after ${took} ms, ${before.length} asked before answered, ${inFlight} of them in flight, ${later.filter(isTooLate).length} of ${later.length} asked later found nobody, ${arrived.answered} of one that was behind; a replica replaced under ${replaced.seen.answers.length} requests, ${failed(replaced.seen.answers)} failed; control: a hasty one answers ${hasty.answered} and fails ${failed(cut.before)} asked before, killed instead, ${failed(killed.answers)} failed`,
      faults: [
        ...stopped.faults,
        ...replaced.faults,
        ...faultsOf({
          [`what has arrived is answered (${arrived.statuses})`]: arrived.answered === 50,
          'the look finds a server that drops what has arrived': hasty.answered < 50,
        }),
        ...overlookedBy(
          found,
          'exit 0',
          'within 10 s',
          'asked before',
          '(0 (cut amid: ',
          'slow ones',
          'replaced (',
          'ends with 0',
        ),
      ],
    };
  },
};
export default row;

const isServed = ({ status }: Told) => status === 200 || status === 201;
/** 503 on a busy machine is a response. */
const isBusy = ({ status, headers }: Told) => status === 503 && headers['retry-after'] !== undefined;
/** Connection refused or reset before the first byte of a response. */
const isTooLate = ({ status, text }: Told) =>
  status === 0 && /^(connect ECONNREFUSED|(read|write) (ECONNRESET|EPIPE)|socket hang up)/.test(text);

/** A paused server, so that new connections and the signal arrive together. */
async function stopBehind(run: Run, { env, first }: Schools, command?: string[]) {
  const server = await startServer(run, env, command && { command });
  const client = clientOf(first.client.apiKey);
  run.afterwards(client.close);
  server.signal('SIGSTOP');
  const asked = Array.from({ length: 50 }, (_, n) => client.get(`${server.base}/v2/courses?page=${n + 1}`));
  await pause(300);
  server.signal('SIGTERM');
  server.signal('SIGCONT');
  const answers = await Promise.all(asked);
  await server.ended;
  return { answered: answers.filter(({ status }) => status === 200).length, statuses: statusesOf(answers) };
}

/** A server that exits within the status line of a response. */
async function cutAmid(run: Run): Promise<Told[]> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write('HTTP/1.1 2', () => socket.resetAndDestroy()));
  });
  run.afterwards(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = clientOf('cut amid an answer');
  const answer = await client.get(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  client.close();
  return [{ ...answer, asked: 0 }];
}

/** A single server gets SIGTERM while some requests take two seconds and many others are in flight. */
async function stopOne(run: Run, { postgres, env, first }: Schools, command?: string[]) {
  const server = await startServer(run, env, command && { command });
  const { client } = first;
  const slow = clientOf(client.apiKey);
  run.afterwards(slow.close);
  const holder = await postgres.connect('schools');
  await holder.query('begin');
  await holder.query('lock table instructors in access exclusive mode');

  const answers = steadily(200, 2_000, (n) => client.get(`${server.base}/v2/courses?page=${n + 1}`));
  // Leaves connections for the others: of four, one waits for the table and one for the lock.
  const waiting = (async () => {
    await pause(600);
    const read = slow.get(`${server.base}/v2/instructors`);
    const write = slow.post(`${server.base}/v2/instructors`, { firstname: 'Kari', lastname: 'Nordmann' });
    return Promise.all([read, write]);
  })();
  await pause(1_000);
  const burst = Array.from({ length: 100 }, async (_, n): Promise<Told> => {
    const asked = performance.now();
    return { ...(await client.get(`${server.base}/v2/courses?page=${n + 1_000}`)), asked };
  });
  await Promise.race(burst);
  const told = performance.now();
  // Requests sent before have arrived by then.
  await pause(5);
  const ended = stop(server);
  await pause(1_000);
  await holder.query('commit');
  await holder.end();
  const code = await ended;
  const took = Math.round(performance.now() - told);
  const slowOnes = (await waiting).map(({ status }) => status);
  const all = [...(await answers), ...(await Promise.all(burst))];
  const [before, later] = [all.filter(({ asked }) => asked < told), all.filter(({ asked }) => asked >= told)];
  return { code, took, told, before, later, slowOnes };
}

function judgeStop({ code, took, before, later, slowOnes }: Awaited<ReturnType<typeof stopOne>>): Checks {
  const wrong = before.filter((one) => !isServed(one));
  const wrongLater = later.filter((one) => !isServed(one) && !isTooLate(one));
  const lost = wrong.filter((one) => !isBusy(one));
  const lostLater = wrongLater.filter((one) => !isBusy(one));
  return {
    right: {
      [`exit 0 (${code})`]: code === 0,
      [`all that was asked before is answered (${statusesOf(lost)})`]: lost.length === 0,
      [`who comes later is answered or finds nobody (${statusesOf(lostLater)})`]: lostLater.length === 0,
      [`slow ones too (${slowOnes.join(', ')})`]: slowOnes.join() === '200,201',
    },
    inTime: {
      [`within 10 s (${took} ms)`]: took <= 10_000,
      [`all find a connection (${statusesOf([...wrong, ...wrongLater])})`]: wrong.length + wrongLater.length === 0,
    },
  };
}

/** Milliseconds until a balancer notices. */
const drain = 700;

/** Two replicas behind a balancer; a third replaces the first, which gets SIGTERM. */
async function replaceOne(run: Run, { env, first }: Schools, seconds: number, signal: NodeJS.Signals) {
  const draining = { ...env, SHUTDOWN_DRAIN_MS: String(drain) };
  const [one, two] = await Promise.all([startServer(run, draining), startServer(run, draining)]);
  const client = clientOf(first.client.apiKey);
  // A graceful stop announces itself by /ready; after a kill the balancer notices later than the requests.
  const balancer = openBalancer(client, { every: signal === 'SIGKILL' ? 3_000 : 100 });
  balancer.add(one.base);
  balancer.add(two.base);
  const begun = Date.now();
  const over = new AbortController();
  const asking = steadily(200, over.signal, (n) => {
    if (n % 10 > 0) return balancer.ask(`/v2/courses?page=${n + 1}`);
    const body = JSON.stringify({ title: `Course ${begun} ${n}` });
    return balancer.ask('/v2/courses', { method: 'POST', body });
  });
  await pause(seconds * 500);
  const three = await startServer(run, draining);
  balancer.add(three.base);
  one.signal(signal);
  const code = await one.ended;
  await until(() => !balancer.isReady(one.base), 1_000);
  balancer.remove(one.base);
  await pause(seconds * 500);
  over.abort();
  const answers = await asking;
  await balancer.close();
  client.close();
  await Promise.all([stop(two), stop(three)]);
  return { code, answers, slowest: balancer.slowest() };
}

function judgeReplaced({ code, answers, slowest }: Awaited<ReturnType<typeof replaceOne>>): Checks {
  const wrong = answers.filter((answer) => !isServed(answer));
  const lost = wrong.filter((answer) => !isBusy(answer));
  return {
    right: {
      // A balancer on a busy machine may notice too late and keep sending.
      [`no request fails while a replica is replaced (${statusesOf(lost)})`]: lost.length === 0 || slowest > drain / 2,
      [`the replaced one ends with 0 (${code})`]: code === 0,
    },
    inTime: {
      [`all find a connection while one is replaced (${statusesOf(wrong)}, looked at in ${Math.round(slowest)} ms)`]:
        wrong.length === 0,
    },
  };
}
