import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { failedChecks, pause, waitUntil, type Outcome, type Run } from '../reliability/scenario.ts';
import type { HttpResponse } from '../reliability/support/client.ts';
import { countStatuses, maxElapsed } from '../reliability/support/load.ts';
import { cli, type School } from '../reliability/support/school.ts';
import { findShard, nameOf, query, startCitusServer, type Distributed, type Worker } from './cluster.ts';

/** While a worker is stopped, its schools get 503 and those of the other workers read a list with relations and book. */
export async function stopWorker(run: Run, { url, schools, ...commands }: Distributed): Promise<Outcome> {
  const { stopWorker: stop, startWorker: start } = commands;
  if (stop === undefined || start === undefined)
    return {
      figures: 'CITUS_STOP_WORKER or CITUS_START_WORKER is not set',
      failures: [],
      skipped: 'nothing was tested',
    };
  const { base } = await startCitusServer(run, url);
  const visitors = schools.map((school) => createVisitor(base, school));
  const workers = await Promise.all(schools.map(async (school) => nameOf(await findShard(url, school))));
  const failures = describeFailures('before', await visitAll(visitors), isServed);

  await execute('sh', ['-c', stop]);
  const seen = { own: [] as HttpResponse[], others: [] as HttpResponse[] };
  let stopped: string[];
  try {
    stopped = await findStopped(url);
    for (let round = 0; round < 5; round += 1) {
      const responses = await visitAll(visitors);
      responses.forEach((some, n) => seen[workers[n] === stopped[0] ? 'own' : 'others'].push(...some));
      await pause(1_000);
    }
  } finally {
    await execute('sh', ['-c', start]);
  }
  const isBack = async () => (await visitAll(visitors)).flat().every(isServed);
  const backMs = await waitUntil(isBack, 60_000);
  const doctor = await cli({ DATABASE_URL: url }, 'doctor', '--only', 'data');
  const statuses = { own: countStatuses(seen.own), others: countStatuses(seen.others) };
  return {
    figures:
      `${stopped.join(', ') || 'no worker'} stopped: its schools ${statuses.own} in at most ${maxElapsed(seen.own)} ms, ` +
      `others ${statuses.others}; all back ${Math.round(backMs)} ms after the start`,
    failures: [
      ...failures,
      ...failedChecks({
        'the command stops one worker': stopped.length === 1,
        'both have schools': seen.own.length > 0 && seen.others.length > 0,
        'its schools get 503': seen.own.every(({ status }) => status === 503),
        'they get it within 3 s': maxElapsed(seen.own) <= 3_000,
        'schools of the other workers read and book': seen.others.every(isServed),
        'all schools are back within 60 s': backMs !== Infinity,
        'doctor finds no difference': doctor.code === 0,
      }),
    ],
  };
}

const execute = promisify(execFile);
const isServed = ({ status }: HttpResponse) => status === 200 || status === 201;
const describeFailures = (when: string, responses: HttpResponse[][], isRight: (response: HttpResponse) => boolean) =>
  responses
    .flat()
    .filter((response) => !isRight(response))
    .map(({ status, text }) => `${when}: ${status} ${text.slice(0, 200)}`);

/** Reads a list with relations, and books. */
function createVisitor(base: string, { client, dateIds }: School) {
  let count = 0;
  return () => {
    const participants = [{ firstname: 'Kari', lastname: 'Nordmann', email: `kari-${(count += 1)}@people.example` }];
    const booking = { coursedate_id: dateIds[0], payment_method: 'invoice', participants };
    return Promise.all([
      client.get(`${base}/v2/coursedates?include=course.products,gatherings`, { timeoutMs: 10_000 }),
      client.post(`${base}/v2/booking`, booking, { timeoutMs: 10_000 }),
    ]);
  };
}

const visitAll = (visitors: (() => Promise<HttpResponse[]>)[]) => Promise.all(visitors.map((visit) => visit()));

async function findStopped(url: string) {
  const text = `select nodename as host, nodeport as port, success from run_command_on_workers('select 1')`;
  const workers = await query<Worker & { success: boolean }>(url, text);
  return workers.filter(({ success }) => !success).map(nameOf);
}
