import { faultsOf, pause, type Row } from '../row.ts';
import { allFaultsOf, overlookedBy, twiceIfLate, type Checks } from '../support/judge.ts';
import { makeSchools } from '../support/school.ts';
import { startServer } from '../support/server.ts';
import { areAllTold, compare, faultsOfKept, overlooked, startWriters } from '../support/writers.ts';

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
    /** Kills the server repeatedly during writes; returns the startup times. */
    const killing = async () => {
      const starts: number[] = [];
      const begun = performance.now();
      for (let n = 1; n <= kills; n += 1) {
        await pause(Math.max(500, begun + n * every - run.random() * 1_000 - performance.now()));
        starts.push(await restart());
      }
      return starts;
    };
    const { seen: starts, faults: late } = await twiceIfLate(killing, judge);
    await writers.stop();
    const { written, surprises, statuses } = writers;
    const count = written.bookings.length + written.courses.length;
    const kept = await compare(schools, written);
    const faults = faultsOf({
      ...faultsOfKept(kept),
      [`only cuts and 503 hinder a write, not ${surprises[0]}`]: surprises.length === 0,
      'every write is acknowledged in the end': areAllTold(written),
      'clients were cut': (statuses.get(0) ?? 0) > 0,
    });
    const missed = await overlooked(schools, base, written);
    missed.push(...overlookedBy(allFaultsOf(judge([2_001])), 'within 2 s'));

    // Negative control: clients without idempotency keys against a server whose responses are lost. A busy server may
    // have no request in flight when it stops, hence up to five attempts.
    let twice = 0;
    for (let n = 1; n <= 5 && twice === 0; n += 1) {
      const keyless = startWriters(schools.all, { base: () => base, keys: false, patience: 300, name: `keyless${n}` });
      await pause(500);
      server.signal('SIGSTOP');
      await pause(500);
      server.signal('SIGCONT');
      await pause(500);
      await keyless.stop();
      twice = (await compare(schools, keyless.written)).twice;
    }
    if (twice === 0) missed.push('the look finds bookings made twice for want of a key');
    return {
      figures: `${kills} kills, ${count} writes, ${statuses.get(0)} cuts, ${kept.lost} lost, ready in ${Math.max(...starts)} ms at most; faults made on purpose found, ${twice} bookings twice without keys`,
      faults: [...late, ...faults, ...missed],
    };
  },
};
export default row;

function judge(starts: number[]): Checks {
  const slowest = Math.max(...starts);
  return { right: {}, inTime: { [`ready within 2 s (${slowest} ms)`]: slowest <= 2_000 } };
}
