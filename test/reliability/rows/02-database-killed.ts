import { faultsOf, pause, until, type Row } from '../row.ts';
import { makeSchools } from '../support/school.ts';
import { startServer } from '../support/server.ts';
import { compare, faultsOfKept, overlooked, startWriters } from '../support/writers.ts';

const row: Row = {
  name: 'the database is killed under writers',
  quick: true,
  async run(run) {
    const schools = await makeSchools(run, { count: 3 });
    const { postgres, env, all, first } = schools;
    const server = await startServer(run, env);
    const base = () => server.base;
    const writers = startWriters(all, { base });
    const read = () => first.client.get(`${server.base}/v2/courses`);

    const returns: number[] = [];
    const away = new Set<string>();
    for (let n = 0; n < (run.quick ? 2 : 5); n += 1) {
      await pause(1_000 + run.random() * 2_000);
      await postgres.kill();
      for (let look = 0; look < 5; look += 1) {
        const { status, headers } = await read();
        away.add(`${status}${headers['retry-after'] === undefined ? '' : ' with Retry-After'}`);
      }
      await postgres.start();
      returns.push(await until(async () => (await read()).status === 200, 10_000));
    }
    await pause(500);
    await writers.stop();
    const { written, surprises, statuses } = writers;
    const count = written.bookings.length + written.courses.length;
    const back = Math.round(Math.max(...returns));
    const kept = await compare(schools, written);
    const told = [...away].join(', ');
    const faults = faultsOf({
      ...faultsOfKept(kept),
      [`only 503 hinders a write, not ${surprises[0]}`]: surprises.length === 0,
      [`no connection is cut (${statuses.get(0)} are)`]: !statuses.has(0),
      'every write is acknowledged in the end': written.bookings.every(({ said }) => said !== undefined),
      'the server lives': !server.hasEnded(),
      [`503 with Retry-After while the database is away (${told})`]: told === '503 with Retry-After',
      [`200 within 5 s of its return (${back} ms)`]: back <= 5_000,
    });
    const missed = await overlooked(schools, server.base, written);

    // The negative control: a database that says so before it has written to disk.
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
      figures: `${returns.length} kills, ${count} writes, ${statuses.get(503)} told 503, ${kept.lost} lost, back in ${back} ms at most; with synchronous_commit off ${lost} lost`,
      faults: [...faults, ...missed, ...(lost > 0 ? [] : ['the look finds what such a database loses'])],
    };
  },
};
export default row;
