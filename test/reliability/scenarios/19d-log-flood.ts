import { failedChecks, pause, waitUntil, type Run, type Scenario } from '../scenario.ts';
import { startFlood } from '../support/flood.ts';
import { isHarmless, measureGoodClient } from '../support/good-client.ts';
import { createSchools, type School } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import { bundle, replaceIn } from '../../support/bundle.ts';

/** Lines of one address, and milliseconds of another client's p99. */
const limits = { lines: 12, p99: 50 };

const unguarded = [
  replaceIn('without-sample', /request-log\.ts$/, 'return count <= maxLines', 'return true'),
  replaceIn('waiting-for-reader', /core\/log\.ts$/, 'sync: false', 'sync: true'),
];

/** Requests without a key beside those of another client. */
async function floodWithRefused(run: Run, server: Server, { client }: School) {
  const stop = await startFlood(run, server, { connections: 4, count: 8, path: '/nothing' });
  const beside = await measureGoodClient(server.base, client, run.quick ? 1_000 : 5_000);
  const { responses } = await stop();
  await pause(200);
  const lines = server.output().match(/unknown path 404/g)?.length ?? 0;
  return { beside, responses, lines };
}

/** Requests whose lines nobody reads; the log counts the dropped ones. */
async function stopReading(run: Run, server: Server, { client }: School) {
  server.pauseOutput();
  const stop = await startFlood(run, server, { connections: 4, count: 8, path: '/live' });
  const beside = await measureGoodClient(server.base, client, run.quick ? 1_500 : 5_000);
  const { responses } = await stop();
  server.resumeOutput();
  const isCounted = () => / log lines were dropped/.test(server.output());
  return { beside, responses, isCounted: (await waitUntil(isCounted, 5_000)) !== Infinity };
}

const scenario: Scenario = {
  name: 'log of a flood',
  quick: false,
  async run(run) {
    const { env, first } = await createSchools(run, { parameters: { fsync: 'off' } });
    const all = { ...env, LOG_REQUESTS: 'all' };
    const server = await startServer(run, all);
    await measureGoodClient(server.base, first.client, 500);
    const alone = await measureGoodClient(server.base, first.client, 1_000);
    const refused = await floodWithRefused(run, server, first);
    const unread = await stopReading(run, server, first);

    const command = [process.execPath, await bundle('src/main.ts', unguarded)];
    const control = await startServer(run, all, { command });
    const logged = await floodWithRefused(run, control, first);
    const waiting = await stopReading(run, control, first);

    const ms = (value: number) => `${value.toFixed(1)} ms`;
    return {
      figures: `${refused.responses} refused requests, ${refused.lines} lines, p99 of another client ${ms(refused.beside)} (${ms(alone)} alone); control: ${logged.responses} requests, ${logged.lines} lines; log that nobody reads: ${unread.responses} other requests, p99 ${ms(unread.beside)}; control, a log that waits: p99 ${ms(waiting.beside)}`,
      failures: failedChecks({
        'hundreds of requests are refused': refused.responses > 300,
        [`of one address at most ${limits.lines} lines are logged, not ${refused.lines}`]:
          refused.lines <= limits.lines,
        [`p99 of another client ${ms(refused.beside)}`]: isHarmless(alone, refused.beside, limits.p99),
        [`control: without the sample there are more lines (${logged.lines})`]: logged.lines > 10 * limits.lines,
        'a server whose log nobody reads answers': isHarmless(alone, unread.beside, limits.p99),
        'the log counts the dropped lines': unread.isCounted,
        'control: a server that waits for the reader does not answer': waiting.beside === Infinity,
      }),
    };
  },
};
export default scenario;
