import { failedChecks, pause, waitUntil, type Run, type Scenario } from '../scenario.ts';
import { startFlood } from '../support/flood.ts';
import { isHarmless, measureGoodClient } from '../support/good-client.ts';
import { createSchools, type School } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import { bundle, replaceIn } from '../../support/bundle.ts';

/** Lines of one address, and milliseconds of another client's p99. */
const limits = { lines: 12, p99: 50 };

const withoutSample = replaceIn('without-sample', /refusal-sampling\.ts$/, 'return count <= maxLines', 'return true');
const waitingForReader = replaceIn('waiting-for-reader', /log-destination\.ts$/, 'sync: false', 'sync: true');

const serve = async (run: Run, env: Record<string, string>, control?: typeof withoutSample) =>
  startServer(run, env, control && { command: [process.execPath, await bundle('src/main.ts', [control])] });

/** Requests without a key beside those of another client. */
async function floodWithRefused(run: Run, server: Server, { client }: School) {
  const stop = await startFlood(run, server, { connections: 4, count: 8, path: '/nothing' });
  const beside = await measureGoodClient(server.base, client, run.quick ? 1_500 : 5_000);
  const { responses } = await stop();
  await pause(200);
  const lines = server.output().match(/unknown path (404|429)/g)?.length ?? 0;
  return { beside, responses, lines };
}

/** Requests whose lines nobody reads; the log tells then how many were dropped. */
async function stopReading(run: Run, server: Server, { client }: School) {
  server.pauseOutput();
  const stop = await startFlood(run, server, { connections: 4, count: 8, path: '/live' });
  const beside = await measureGoodClient(server.base, client, 2_000);
  const { responses } = await stop();
  server.resumeOutput();
  const isTold = () => / log lines were dropped/.test(server.output());
  return { beside, responses, isTold: (await waitUntil(isTold, 5_000)) !== Infinity };
}

const scenario: Scenario = {
  name: 'log of a flood',
  quick: true,
  async run(run) {
    const { env, first } = await createSchools(run, { parameters: { fsync: 'off' } });
    const limited = { ...env, PUBLIC_REQUESTS_PER_MINUTE: '600' };
    const server = await serve(run, limited);
    await measureGoodClient(server.base, first.client, 500);
    const alone = await measureGoodClient(server.base, first.client, 1_000);
    const refused = await floodWithRefused(run, server, first);
    const allLogged = await serve(run, limited, withoutSample);
    const control = await floodWithRefused(run, allLogged, first);

    const all = { ...env, LOG_REQUESTS: 'all' };
    const unread = await stopReading(run, await serve(run, all), first);
    const waiting = await stopReading(run, await serve(run, all, waitingForReader), first);

    const ms = (value: number) => `${value.toFixed(1)} ms`;
    return {
      figures: `${refused.responses} refused requests, ${refused.lines} lines, p99 of another client ${ms(refused.beside)} (${ms(alone)} alone); control: ${control.responses} requests, ${control.lines} lines; log that nobody reads: ${unread.responses} other requests, p99 ${ms(unread.beside)}; control, a log that waits: p99 ${ms(waiting.beside)}`,
      failures: failedChecks({
        'hundreds of requests are refused': refused.responses > 300,
        [`of one address at most ${limits.lines} lines are logged, not ${refused.lines}`]:
          refused.lines <= limits.lines,
        [`p99 of another client ${ms(refused.beside)}`]: isHarmless(alone, refused.beside, limits.p99),
        [`control: without the sample there are more lines (${control.lines})`]: control.lines > 10 * limits.lines,
        'a server whose log nobody reads answers': isHarmless(alone, unread.beside, limits.p99),
        'dropped lines are told': unread.isTold,
        'control: a server that waits for the reader does not answer': waiting.beside === Infinity,
      }),
    };
  },
};
export default scenario;
