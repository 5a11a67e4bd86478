import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { buildCommit } from '../bench/against.ts';
import { withCleanup } from '../bench/booking-cost.ts';
import { compareAnswers, describeDifferences, type Found } from './differences.ts';
import { listExamples, listKeys, listPlainReads, listRandom, listReads, listWrites } from './requests.ts';
import { createSender, startServers, type Step } from './servers.ts';
import { bookingStory, catalogPages, fillForm, findLinks, personalStory } from './stories.ts';

const { values } = parseArgs({
  options: {
    /** The commit that is built and compared with this build. */
    against: { type: 'string' },
    /** A file for all differences. */
    json: { type: 'string' },
  },
});
const { against, json } = values;
if (against === undefined) throw new Error('--against <commit> is required');

const [maxPages, maxForms, randomRequests] = [300, 10, 500];
// Without these the process would end before it has cleaned up.
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (isInterrupted = true));

const toPublic = (path: string): Step => ({ path, key: null });
const reads = [...listPlainReads(), ...listReads(), ...personalStory, ...listKeys()];
const writes = [...bookingStory, ...listExamples(), ...listWrites(), ...listRandom(randomRequests)];
const readsAgain = [...listPlainReads(), ...catalogPages.map(toPublic)];

const { statuses, found } = await withCleanup(async (run) => {
  const { keys, ports } = await startServers(run, [await buildCommit(run, against), '.']);
  const [before, now] = ports.map((port) => createSender(run, port, keys));
  return sendAll(before!, now!);
});
for (const line of describeDifferences(found)) console.log(line);
if (json !== undefined) writeFileSync(json, JSON.stringify(found, null, 2));
const count = Object.values(statuses).reduce((sum, one) => sum + one, 0);
const differing = new Set(found.map(({ number }) => number)).size;
console.log(`Status codes (0: not sent): ${JSON.stringify(statuses)}`);
console.log(`${count} requests, ${differing} differ`);
process.exit(differing === 0 ? 0 : 1);

type Sender = ReturnType<typeof createSender>;

/** Sends each request to both servers, one after the other. */
async function sendAll(before: Sender, now: Sender) {
  const found: (Found & { number: number })[] = [];
  const statuses: Record<number, number> = {};
  let number = 0;
  const send = async (step: Step) => {
    if (isInterrupted) throw new Error('interrupted');
    const [first, second] = [await before(step), await now(step)];
    number += 1;
    statuses[first.status] = (statuses[first.status] ?? 0) + 1;
    found.push(...compareAnswers(first, second).map((one) => ({ number, request: first.request, ...one })));
    return first.text;
  };
  const pages = new Set(catalogPages);
  for (const path of pages)
    for (const link of findLinks(await send(toPublic(path)))) if (pages.size < maxPages) pages.add(link);
  const forms = [...pages].filter((path) => path.endsWith('/book')).slice(0, maxForms);
  for (const step of [...reads, ...forms.flatMap(fillForm), ...writes, ...readsAgain]) await send(step);
  return { statuses, found };
}
