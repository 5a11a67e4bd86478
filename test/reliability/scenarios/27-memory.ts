import { readFileSync } from 'node:fs';
import { failedChecks, percentile, type Run, type Scenario } from '../scenario.ts';
import { createClient, type Client } from '../support/client.ts';
import { fillDatabase } from '../support/dataset.ts';
import { temporaryFolder } from '../support/folder.ts';
import { countStatuses, sendAtRate } from '../support/load.ts';
import { readMemory } from '../support/measured-cli.ts';
import { createMemoryGroup, inGroup } from '../support/memory-limit.ts';
import { startPostgres } from '../support/postgres.ts';
import { startServer, stop } from '../support/server.ts';

const limitMb = 256;
const requestsPerSecond = 100;
const seconds = 60;

/** The heap that Node chooses by itself where the memory is limited to 256 MB. */
const heapOption = '--max-old-space-size=128';
/** The variables and options of the image, from the script that starts the server. */
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
const variables = Object.fromEntries(
  [...scripts.start.matchAll(/(MALLOC_\w+)=(\d+)/g)].map(([, name, n]) => [name, n]),
);
const options = scripts.start.match(/--\S+/g)!;

const scenario: Scenario = {
  name: `a server in ${limitMb} MB`,
  quick: false,
  async run(run) {
    const postgres = await startPostgres(run, { fsync: 'off', synchronous_commit: 'off' });
    await postgres.create('source');
    const url = postgres.url('source');
    const client = createClient(await fillDatabase(url, 0.04, 10));
    run.onCleanup(client.close);
    const group = createMemoryGroup(run, limitMb);
    const { responses, peakMb, ended } = await load(run, { url, client, group, seconds });
    const control = await load(run, { url, client, group, seconds: 20, preload: leak });
    const elapsed = responses.map((response) => response.elapsed);
    return {
      figures:
        `${responses.length} requests (${countStatuses(responses)}), p99 ${Math.round(percentile(elapsed, 0.99))} ms, ` +
        `at most ${Math.round(peakMb)} MB, ${group ? 'limited by a control group' : `measured only, with ${heapOption}`}; ` +
        `control with a leak: ${control.ended ? 'ended' : `${Math.round(control.peakMb)} MB`}`,
      failures: failedChecks({
        'the server runs': !ended,
        // A slow machine has no time for all of them.
        [`requests get 2xx or 503 (${countStatuses(responses)})`]: responses.every(({ status }) =>
          [200, 201, 503].includes(status),
        ),
        'some succeed': responses.some(({ status }) => status === 200),
        [`at most ${limitMb} MB (${peakMb} MB)`]: peakMb <= limitMb,
        'control: a leak is found': control.ended || control.peakMb > limitMb,
      }),
    };
  },
};
export default scenario;

const leak = ['--import', './test/reliability/support/leak.js'];

type Load = { url: string; client: Client; group: string | undefined; seconds: number; preload?: string[] };

/** Sends long lists, changes and bookings to a server with a limit of its memory. */
async function load(run: Run, { url, client, group, seconds, preload = [] }: Load) {
  const node = [process.execPath, ...options, ...preload];
  const command = group ? inGroup(group, [...node, 'dist/main.js']) : [...node, heapOption, 'dist/main.js'];
  const env = { DATABASE_URL: url, DATA_DIR: temporaryFolder(run), ...variables };
  const server = await startServer(run, env, { command });
  const dateId = await createDate(client, server.base);
  const lists = ['courses', 'coursedates', 'orders', 'participants', 'customers', 'changes'];
  const sending = sendAtRate(requestsPerSecond, seconds * 1_000, (n) => {
    if (n % 10 === 0) return client.post(`${server.base}/v2/booking`, toBooking(dateId, n));
    if (n % 10 === 5) return client.post(`${server.base}/v2/course-tags`, { title: `Tag ${run.seed} ${n} ${seconds}` });
    return client.get(`${server.base}/v2/${lists[n % lists.length]}?limit=250&since_id=${n}`);
  });
  let peakMb = 0;
  const sampling = setInterval(() => (peakMb = Math.max(peakMb, readMemory(server.pid, 'VmHWM'))), 100);
  const responses = await sending;
  clearInterval(sampling);
  const ended = server.hasEnded();
  await stop(server);
  return { responses, peakMb, ended };
}

async function createDate(client: Client, base: string) {
  const course = await client.post(`${base}/v2/courses`, { title: 'Booked in little memory', price_value: 100 });
  const { course_id } = JSON.parse(course.text) as { course_id: number };
  const date = { start_at: '2035-06-10', end_at: '2035-06-11', capacity_max: 1_000_000 };
  const created = await client.post(`${base}/v2/courses/${course_id}/coursedates`, date);
  return (JSON.parse(created.text) as { coursedate_id: number }).coursedate_id;
}

const toBooking = (coursedate_id: number, n: number) => ({
  ...{ coursedate_id, payment_method: 'invoice' },
  participants: [{ firstname: 'Kari', lastname: `Nordmann ${n}`, email: `kari-${n}@people.example` }],
});
