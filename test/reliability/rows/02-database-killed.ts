import { faultsOf, pause, until, type Row } from '../row.ts';
import { allFaultsOf, overlookedBy, twiceIfLate, type Checks } from '../support/judge.ts';
import { statusesOf, steadily, type Told } from '../support/load.ts';
import { makeSchools, type School } from '../support/school.ts';
import { startServer } from '../support/server.ts';
import { areAllTold, compare, faultsOfKept, overlooked, startWriters } from '../support/writers.ts';

const row: Row = {
  name: 'the database is killed under writers',
  quick: true,
  async run(run) {
    const schools = await makeSchools(run, { count: 3 });
    const { postgres, env, all, first } = schools;
    const server = await startServer(run, env);
    const base = () => server.base;
    const writers = startWriters(all, { base });
    const read = ({ client }: School, n = 0) => client.get(`${server.base}/v2/courses?since_id=${n}`);
    const write = () => first.client.post(`${server.base}/v2/courses`, { title: `Course ${performance.now()}` });

    const kills = run.quick ? 2 : 5;
    const killing = async () => {
      const seen: Seen = { back: 0, away: [], after: [] };
      for (let n = 0; n < kills; n += 1) {
        await pause(1_000 + run.random() * 2_000);
        await postgres.kill();
        seen.away.push(...(await steadily(20, 1_000, (n) => (n % 2 === 0 ? read(all[n % 3]!, n) : write()))));
        await postgres.start();
        const begun = performance.now();
        const isBack = (school: School) => until(async () => (await read(school)).status === 200, 10_000);
        await Promise.all([...all.map(isBack), until(async () => (await write()).status === 201, 10_000)]);
        seen.back = Math.max(seen.back, Math.round(performance.now() - begun));
        seen.after.push(...(await steadily(20, 1_000, (n) => (n % 2 === 0 ? read(all[n % 3]!, n) : write()))));
      }
      return seen;
    };
    const { seen, faults: told } = await twiceIfLate(killing, judge);
    await pause(500);
    await writers.stop();
    const { written, surprises, statuses } = writers;
    const count = written.bookings.length + written.courses.length;
    const kept = await compare(schools, written);
    const faults = faultsOf({
      ...faultsOfKept(kept),
      [`only 503 hinders a write, not ${surprises[0]}`]: surprises.length === 0,
      [`no connection is cut (${statuses.get(0)} are)`]: !statuses.has(0),
      'every write is acknowledged in the end': areAllTold(written),
      'the server lives': !server.hasEnded(),
    });
    const missed = await overlooked(schools, server.base, written);
    const found = allFaultsOf(judge({ back: 5_001, away: seen.after, after: seen.away }));
    missed.push(...overlookedBy(found, 'is away', 'within 5 s', 'stays well'));

    // Negative control: a database that commits asynchronously.
    const hasty = ['synchronous_commit = off', 'wal_writer_delay = 10000', 'wal_writer_flush_after = 100000'];
    await postgres.command(...hasty.map((setting) => `alter system set ${setting}`), 'select pg_reload_conf()');
    await pause(500);
    const trusting = startWriters(all, { base, name: 'trusting' });
    await pause(1_500);
    await postgres.kill();
    await postgres.start();
    await trusting.stop();
    const { lost } = await compare(schools, trusting.written);
    return {
      figures: `${kills} kills, ${count} writes, ${statuses.get(503)} told 503, ${kept.lost} lost, back in ${seen.back} ms at most; with synchronous_commit off ${lost} lost`,
      faults: [...told, ...faults, ...missed, ...(lost > 0 ? [] : ['the look finds what such a database loses'])],
    };
  },
};
export default row;

/** `back`: maximum milliseconds until the server is ready after the database. */
type Seen = { back: number; away: Told[]; after: Told[] };

function judge({ back, away, after }: Seen): Checks {
  return {
    right: {
      [`503 with Retry-After while the database is away (${statusesOf(away)})`]: away.every(
        ({ status, headers }) => status === 503 && headers['retry-after'] !== undefined,
      ),
      [`it stays well (${statusesOf(after)})`]: after.every(({ status }) => status === 200 || status === 201),
    },
    inTime: { [`200 within 5 s of its return (${back} ms)`]: back <= 5_000 },
  };
}
