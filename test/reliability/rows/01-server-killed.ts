import { faultsOf, pause, type Row } from '../row.ts';
import { makeSchools } from '../support/school.ts';
import { startServer } from '../support/server.ts';
import { compare, faultsOfKept, overlooked, startWriters } from '../support/writers.ts';

const row: Row = {
  name: 'the server is killed under writers',
  quick: true,
  async run(run) {
    const schools = await makeSchools(run, { count: 3 });
    let server = await startServer(run, schools.env);
    const { port, base } = server;
    const writers = startWriters(schools.all, { base: () => base });
    const restart = async () => {
      server.signal('SIGKILL');
      await server.ended;
      server = await startServer(run, schools.env, { port });
      return Math.round(server.readyAfter);
    };
    const [kills, every] = run.quick ? [3, 3_000] : [12, 5_000];
    /** Kills it so often amid the writers; how long the slowest start took. */
    const killing = async () => {
      const starts: number[] = [];
      const begun = performance.now();
      for (let n = 1; n <= kills; n += 1) {
        await pause(Math.max(500, begun + n * every - run.random() * 1_000 - performance.now()));
        starts.push(await restart());
      }
      return Math.max(...starts);
    };
    const first = await killing();
    // A machine that is busy with other things is slow for once.
    const ready = first <= 2_000 ? first : await killing();
    await writers.stop();
    const { written, surprises, statuses } = writers;
    const count = written.bookings.length + written.courses.length;
    const readiness = first > ready ? `${ready} ms (${first} ms the first time)` : `${ready} ms`;
    const kept = await compare(schools, written);
    const faults = faultsOf({
      ...faultsOfKept(kept),
      [`only cuts and 503 hinder a write, not ${surprises[0]}`]: surprises.length === 0,
      'every write is acknowledged in the end': written.bookings.every(({ said }) => said !== undefined),
      [`ready within 2 s (${ready} ms)`]: ready <= 2_000,
      'clients were cut': (statuses.get(0) ?? 0) > 0,
    });
    const missed = await overlooked(schools, base, written);
    return {
      figures: `${kills} kills, ${count} writes, ${statuses.get(0)} cuts, ${kept.lost} lost, ready in ${readiness} at most; faults made on purpose found`,
      faults: [...faults, ...missed],
    };
  },
};
export default row;
