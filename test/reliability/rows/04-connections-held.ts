import { faultsOf, pause, until, type Row, type Run } from '../row.ts';
import { anew } from '../support/anew.ts';
import { allFaultsOf, overlookedBy, twiceIfLate, type Checks } from '../support/judge.ts';
import { longest, statusesOf, steadily } from '../support/load.ts';
import { makeSchools, type School, type Schools } from '../support/school.ts';
import type { Answer } from '../support/client.ts';
import { startServer, stop, type Server } from '../support/server.ts';

const row: Row = {
  name: 'every database connection is held',
  quick: true,
  async run(run) {
    const schools = await makeSchools(run, { count: 2 });
    const server = await startServer(run, schools.env);
    const faults: string[] = [];
    const rounds: Seen[] = [];
    for (let n = 0; n < (run.quick ? 1 : 5); n += 1) {
      const round = await twiceIfLate(() => look(run, schools, server), judge);
      faults.push(...round.faults);
      rounds.push(round.seen);
    }
    const beside = await besideHeld(run, schools, server, lists);
    const isBeside = (one: Answer) => one.status === 200 && one.took <= 1_000;
    if (!isBeside(beside)) faults.push(`beside held lists an item gets ${beside.status} in ${beside.took} ms`);
    const besideItems = await besideHeld(run, schools, server, items);
    if (isBeside(besideItems)) faults.push('beside held items, which hold all connections, an item is answered too');
    await stop(server);

    // Negative control: a server without timeouts that also stalls when the last connection is released.
    const waiting = await startServer(run, { ...schools.env, POOL_ACQUIRE_TIMEOUT_MS: '20000' });
    const slow = await look(run, schools, waiting, 1_500);
    const found = allFaultsOf(judge(slow));
    const failed = { ...slow.reads[0]!, status: 500 };
    found.push(...faultsOf(judge({ ...slow, reads: [failed], held: [failed] }).right));
    return {
      figures: `${figuresOf(rounds)}, beside held lists an item within ${Math.round(beside.took)} ms; control: a wait of 20 s and a standstill are told as ${found.length} faults`,
      faults: [...faults, ...overlookedBy(found, 'within 2 s', '/live', 'within 1 s', 'others get', 'who held them')],
    };
  },
};
export default row;

/** One school's item requests hold all connections for three seconds while another school reads. */
async function look(run: Run, { postgres, all }: Schools, server: Server, standstill = 0) {
  const [one, other] = all;
  const { base } = server;
  const { holder, holding, isWaiting } = await hold(run, postgres, one!, await items(one!, base));
  const areHeld = (await until(() => isWaiting(4), 2_000)) < Infinity;
  const page = () => other!.client.get(`${base}/v2/courses?${anew()}`);
  const recovery = async () => {
    await pause(2_700);
    if (standstill > 0) {
      server.signal('SIGSTOP');
      void pause(standstill).then(() => server.signal('SIGCONT'));
    }
    await pause(300);
    const letGo = performance.now();
    await holder.query('commit');
    await until(async () => (await page()).status === 200, 5_000);
    return performance.now() - letGo;
  };
  const [reads, lives, back] = await Promise.all([
    steadily(30, 2_800, page),
    steadily(20, 2_800, () => other!.client.get(`${base}/live`)),
    recovery(),
  ]);
  return { areHeld, reads, lives, back, held: await Promise.all(holding) };
}
type Seen = Awaited<ReturnType<typeof look>>;

type Paths = (school: School, base: string) => Promise<() => string>;
/** One instructor and the instructor list, uncached. */
const items: Paths = async ({ client }, base) => {
  const { text } = await client.post(`${base}/v2/instructors`, { firstname: 'Kari', lastname: 'Nordmann' });
  const { id } = JSON.parse(text) as { id: number };
  return () => `${base}/v2/instructors/${id}`;
};
const lists: Paths = async (_school, base) => () => `${base}/v2/instructors?${anew()}`;

/** Eight such lists wait for a lock, as many concurrently as the limiter admits. */
async function hold(run: Run, postgres: Schools['postgres'], { client }: School, path: () => string) {
  const holder = await postgres.connect('schools');
  run.afterwards(() => holder.end());
  await holder.query('begin');
  await holder.query('lock table instructors in access exclusive mode');
  const holding = Array.from({ length: 8 }, () => client.get(path()));
  const isWaiting = async (least: number) => {
    const { rows } = await holder.query<{ count: number }>(
      "select count(*)::int from pg_stat_activity where wait_event_type = 'Lock'",
    );
    return rows[0]!.count >= least;
  };
  return { holder, holding, isWaiting };
}

/** Another school requests items while one school's lists wait. */
async function besideHeld(run: Run, { postgres, all }: Schools, { base }: Server, paths: Paths) {
  const [one, other] = all;
  const { holder, holding, isWaiting } = await hold(run, postgres, one!, await paths(one!, base));
  await until(() => isWaiting(3), 2_000);
  // Any request beyond the limit has arrived by then.
  await pause(200);
  const answer = await other!.client.get(`${base}/v2/courses/${other!.courseId}`);
  await holder.query('commit');
  await Promise.all(holding);
  return answer;
}

function judge({ areHeld, reads, lives, back, held }: Seen): Checks {
  return {
    right: {
      [`others get 200 or 503 with Retry-After (${statusesOf(reads)})`]: reads.every(
        ({ status, headers }) => status === 200 || (status === 503 && headers['retry-after'] !== undefined),
      ),
      [`/live is 200 (${statusesOf(lives)})`]: lives.every(({ status }) => status === 200),
      [`who held them gets an answer (${statusesOf(held)})`]: held.every(
        ({ status }) => status === 200 || status === 503,
      ),
    },
    inTime: {
      'all four connections are held': areHeld,
      [`others hear within 2 s (${longest(reads)} ms)`]: longest(reads) <= 2_000,
      [`/live within 50 ms (${longest(lives)} ms)`]: longest(lives) <= 50,
      [`all is well again within 1 s (${Math.round(back)} ms)`]: back <= 1_000,
    },
  };
}

function figuresOf(rounds: Seen[]) {
  const reads = rounds.flatMap((round) => round.reads);
  const lives = rounds.flatMap((round) => round.lives);
  const back = Math.round(Math.max(...rounds.map((round) => round.back)));
  return `others told ${statusesOf(reads)} within ${longest(reads)} ms, /live within ${longest(lives)} ms, back in ${back} ms`;
}
