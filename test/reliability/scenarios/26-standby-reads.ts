import { standbyConnectMs } from '../../../src/database/standby/snapshot.ts';
import { bundle, replaceIn } from '../../support/bundle.ts';
import { failedChecks, pause, waitUntil, type Run, type Scenario } from '../scenario.ts';
import { startStandby, type Postgres } from '../support/postgres.ts';
import { createSchools, type School, type Schools } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';

const writers = 4;
const readersPerSchool = 4;
const isAny = 'and $2::text || $3::text is not null';

const scenario: Scenario = {
  name: 'lists read from a lagging standby',
  quick: false,
  async run(run) {
    const reads = run.quick ? 2_000 : 20_000;
    const schools = await createSchools(run, { count: writers, parameters: { fsync: 'off' } });
    const standby = await startStandby(run, schools.postgres);
    const env = { ...schools.env, DATABASE_READ_URL: standby.url('schools'), RESPONSE_CACHE_MB: '0' };
    const server = await startServer(run, env);
    const resume = delayReplay(run, standby);
    const seen = await readWhileWriting(schools, server, reads);
    const fromStandby = await countCommits(standby);

    // Negative control: a standby that is read whatever it has replayed.
    const withoutCheck = replaceIn('without-check', /standby\/snapshot\.ts$/, /and p\.changed_at >=[^`]*/, isAny);
    const command = [process.execPath, await bundle('src/main.ts', [withoutCheck])];
    const unchecked = await startServer(run, env, { command });
    const control = await readWhileWriting(schools, unchecked, 400);
    await resume();

    const faults = await readDuringFaults(schools, server, standby);
    const failures = [...seen.failures, ...faults.failures];
    return {
      figures: `${seen.reads} lists beside ${writers} writers, ${fromStandby} from a standby 0 to 500 ms behind: ${seen.stale} stale, ${seen.failures.length} failed; control: ${control.stale} of ${control.reads} stale without the check; ${faults.whileStopped} lists while the standby was stopped, ${faults.whileKilled} after its kill and ${faults.afterStart} after its start, then ${faults.fromStandby} from it: ${faults.failures.length} failed, ${faults.stale} stale, longest ${faults.longestMs} ms`,
      failures: failedChecks({
        'no list is older than a write that was acknowledged before': seen.stale + faults.stale === 0,
        [`no request fails (${failures[0]})`]: failures.length === 0,
        [`the standby was read (${fromStandby})`]: fromStandby > reads / 20,
        'control: without the check lists are stale': control.stale > 0,
        [`a list waits for a stopped standby (${faults.longestMs} ms)`]: faults.longestMs >= standbyConnectMs,
        [`lists are read while the standby is stopped (${faults.whileStopped})`]: faults.whileStopped >= 50,
        [`lists are read after its kill (${faults.whileKilled})`]: faults.whileKilled >= 50,
        [`lists are read from it after its start (${faults.fromStandby})`]: faults.fromStandby >= 100,
      }),
    };
  },
};
export default scenario;

/** Delays replay by 0 to 500 ms again and again; the returned function ends that. */
function delayReplay(run: Run, standby: Postgres) {
  const stop = new AbortController();
  const delaying = (async () => {
    const admin = await standby.connect();
    while (!stop.signal.aborted) {
      await admin.query('select pg_wal_replay_pause()');
      await pause(run.random() * 500);
      await admin.query('select pg_wal_replay_resume()');
      await pause(run.random() * 500);
    }
    await admin.end();
  })();
  return async () => {
    stop.abort();
    await delaying;
  };
}

type Course = { id: number; reference: string };

type Reading = {
  reads: number;
  stale: number;
  failures: string[];
  longestMs: number;
  stop(): Promise<void>;
};

/** Each school has one writer and readers, which compare a list with the last write that was acknowledged before. */
function startReading(schools: Schools, { base }: Server): Reading {
  const results: Omit<Reading, 'stop'> = { reads: 0, stale: 0, failures: [], longestMs: 0 };
  const stopped = new AbortController();
  const follow = async (school: School) => {
    const url = `${base}/v2/courses/${school.courseId}`;
    let acknowledged = 0;
    const write = async () => {
      for (let n = 1; !stopped.signal.aborted; n += 1) {
        const response = await school.client.post(url, { reference: String(n) }, { method: 'PUT' });
        if (response.status === 200) acknowledged = n;
        else results.failures.push(`write ${response.status} ${response.text}`);
        await pause(n % 5 === 0 ? 1_000 : 20);
      }
    };
    const read = async () => {
      while (!stopped.signal.aborted) {
        const atLeast = acknowledged;
        const { status, text, elapsed } = await school.client.get(`${base}/v2/courses?limit=10`);
        results.reads += 1;
        results.longestMs = Math.max(results.longestMs, Math.round(elapsed));
        if (status !== 200) results.failures.push(`list ${status} ${text}`);
        else if (Number((JSON.parse(text) as Course[])[0]!.reference) < atLeast) results.stale += 1;
      }
    };
    await Promise.all([write(), ...Array.from({ length: readersPerSchool }, read)]);
  };
  const all = Promise.all(schools.all.map(follow));
  return Object.assign(results, {
    stop: async () => {
      stopped.abort();
      await all;
    },
  });
}

async function readWhileWriting(schools: Schools, server: Server, reads: number) {
  const reading = startReading(schools, server);
  if ((await waitUntil(() => reading.reads >= reads, 600_000)) === Infinity)
    throw new Error(`${reading.reads} of ${reads} lists in 10 minutes`);
  await reading.stop();
  return reading;
}

/** Transactions that answered a list; those that delay replay are in another database. */
async function countCommits(standby: Postgres) {
  // A server process reports its figures once it has been idle.
  await pause(1_500);
  const client = await standby.connect();
  const { rows } = await client.query<{ commits: string }>(
    `select xact_commit::text as commits from pg_stat_database where datname = 'schools'`,
  );
  await client.end();
  return Number(rows[0]!.commits);
}

async function readDuringFaults(schools: Schools, server: Server, standby: Postgres) {
  const reading = startReading(schools, server);
  const readsDuring = async (work: Promise<unknown>) => {
    const before = reading.reads;
    await work;
    return reading.reads - before;
  };
  const whileStopped = await readsDuring(standby.suspend(1_500));
  await standby.kill();
  const whileKilled = await readsDuring(pause(1_000));
  await standby.start();
  let fromStandby = 0;
  // Its statistics start again at 0 after the kill.
  const isUsed = async () => (fromStandby = await countCommits(standby)) >= 100;
  const afterStart = await readsDuring(waitUntil(isUsed, 20_000));
  await reading.stop();
  return { ...reading, whileStopped, whileKilled, afterStart, fromStandby };
}
