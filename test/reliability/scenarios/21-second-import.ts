import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failedChecks, pause, type Scenario } from '../scenario.ts';
import { cli } from '../support/cli.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startPostgres } from '../support/postgres.ts';

const longestMs = 5_000;
/** Shorter statements are not logged. */
const loggedMs = 100;

/** Import lines of a school: each participant has a user and an order, on one of the dates. */
function school(participants: number, dates: number) {
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n + 1);
  const lines = [
    ...numbers(dates).flatMap((n) => [
      { kind: 'course', ref: `c${n}`, title: `Course ${n}` },
      { kind: 'coursedate', ref: `d${n}`, course_id: `c${n}`, start_at: '2099-03-01', end_at: '2099-03-01' },
    ]),
    ...numbers(participants).flatMap((n) => {
      const date = `d${(n % dates) + 1}`;
      return [
        { kind: 'user', ref: `u${n}`, username: `user-${n}`, firstname: 'A', lastname: 'B' },
        { kind: 'order', ref: `o${n}`, title: 'Order', booking: { ref: `b${n}`, coursedate_id: date } },
        { kind: 'participant', ref: `p${n}`, idBooking: `b${n}`, coursedate_id: date, user_id: `u${n}` },
      ];
    }),
  ];
  return { count: lines.length, text: lines.map((line) => `${JSON.stringify(line)}\n`).join('') };
}

const scenario: Scenario = {
  name: 'import into a second school',
  quick: false,
  async run(run) {
    const postgres = await startPostgres(run, {
      fsync: 'off',
      log_min_duration_statement: String(loggedMs),
      log_parameter_max_length: '0',
    });
    await postgres.create('booking');
    const env = { DATABASE_URL: postgres.url('booking') };
    const file = join(temporaryFolder(run), 'school.ndjson');
    /** Imports a school into a new provider; returns line count, duration and the longest statement. */
    const load = async (participants: number, dates: number) => {
      const provider = await cli<{ provider_id: number }>(
        ['provider', 'create', '--title', `School ${dates}`, '--json'],
        env,
      );
      const { count, text } = school(participants, dates);
      writeFileSync(file, text);
      const mark = readFileSync(postgres.log, 'utf8').length;
      const startedAt = performance.now();
      const response = await cli<{ written: number }>(
        ['import', file, '--provider', String(provider.provider_id), '--json'],
        env,
      );
      const seconds = (performance.now() - startedAt) / 1_000;
      return { isComplete: response.written === count, lines: count, seconds, longest: await longestSince(mark) };
    };
    const longestSince = async (mark: number) => {
      await pause(500);
      const durations = readFileSync(postgres.log, 'utf8')
        .slice(mark)
        .matchAll(/duration: ([\d.]+) ms/g);
      return Math.max(0, ...[...durations].map(([, milliseconds]) => Number(milliseconds)));
    };

    await cli(['migrate'], env);
    const first = await load(20, 2);
    const client = await postgres.connect('booking');
    run.onCleanup(() => client.end());
    await client.query('analyze');
    const second = await load(run.quick ? 2_000 : 33_200, 200);

    const mark = readFileSync(postgres.log, 'utf8').length;
    await client.query('select pg_sleep($1)', [(2 * loggedMs) / 1_000]);
    const control = await longestSince(mark);

    return {
      figures: [
        `${second.lines} lines after ${first.lines} of a first school in ${second.seconds.toFixed(0)} s`,
        `the longest statement took ${second.longest < loggedMs ? `under ${loggedMs}` : Math.round(second.longest)} ms`,
        `control: a slow statement is logged with ${Math.round(control)} ms`,
      ].join(', '),
      failures: failedChecks({
        'all lines are written': first.isComplete && second.isComplete,
        [`no statement takes over ${longestMs} ms`]: second.longest <= longestMs,
        'control: a slow statement is logged': control >= 2 * loggedMs,
      }),
    };
  },
};
export default scenario;
