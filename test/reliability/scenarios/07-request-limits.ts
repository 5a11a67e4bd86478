import { monitorEventLoopDelay } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { failedChecks, pause, percentile, type Scenario, type Run } from '../scenario.ts';
import { createClient } from '../support/client.ts';
import { inspectServer, inspectedCommand } from '../support/inspection.ts';
import { largeBodies } from '../support/large-bodies.ts';
import { startPostgres } from '../support/postgres.ts';
import { chunkedRequest, requestHead, sendRaw, requestWithLength } from '../support/raw.ts';
import { firstKey, firstProvider, startServer, type Server } from '../support/server.ts';

type Case = {
  name: string;
  allowed: number[];
  parts: () => Iterable<string | Buffer>;
  /** Bytes after which the server can reject the request; 0 by default. */
  clockFromByte?: number;
  /** Work that may be accepted: only its stall of the event loop is limited. */
  isWork?: boolean;
};
const limits = { response: 100, stall: 100, memory: 50 };
const megabyte = 1_048_576;

const key = { 'x-api-key': firstKey };
const json = { ...key, 'content-type': 'application/json' };
const form = { ...key, 'content-type': 'application/x-www-form-urlencoded' };
const multipart = { ...key, 'content-type': 'multipart/form-data; boundary=edge' };
const post = (headers: Record<string, string>, body: string | Buffer) => () =>
  requestWithLength('POST', '/v2/courses', headers, body);
/** Announces its length and waits: must be rejected before the body is sent. */
const announced = (headers: Record<string, string>, length: number) => () => [
  requestHead('POST', '/v2/courses', { ...headers, 'content-length': String(length) }),
];
const get =
  (path: string, headers: Record<string, string> = key) =>
  () =>
    requestWithLength('GET', path, headers);
const streamed = (headers: Record<string, string>, part: string | Buffer, times: number) => () =>
  chunkedRequest('POST', '/v2/courses', headers, Buffer.from(part), times);
const many = (count: number, testCase: (n: number) => string, between = '&') =>
  Array.from({ length: count }, (_, n) => testCase(n)).join(between);
const field = (name: string, value: string) =>
  `--edge\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const deep = (times: number, open: string, close: string) => `{"title":${open.repeat(times)}1${close.repeat(times)}}`;
const twoHundredHeaders = (value: string) =>
  Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`x-${n}`, value]));
const bytes = (before: string, after: string) =>
  Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from(after)]);

const gzipBomb = gzipSync(Buffer.alloc(500 * megabyte), { level: 1 });
const hugeField = `${field('text_lead', 'x'.repeat(50 * megabyte))}--edge--\r\n`;

const cases: Case[] = [
  { name: 'body limit + 1', allowed: [413], parts: post(json, `"${'x'.repeat(megabyte - 1)}"`) },
  { name: 'body limit + 1, announced', allowed: [413], parts: announced(json, megabyte + 1) },
  { name: 'body limit + 1 as a form, announced', allowed: [413], parts: announced(form, megabyte + 1) },
  { name: '100 MB chunked', allowed: [413], parts: streamed(json, ' '.repeat(65_536), 1_600), clockFromByte: megabyte },
  {
    name: '100 MB chunked form',
    allowed: [413],
    parts: streamed(form, 'a=b&'.repeat(16_384), 1_600),
    clockFromByte: megabyte,
  },
  {
    name: '100 MB without a key',
    allowed: [401],
    parts: streamed({ ...json, 'x-api-key': 'x' }, 'x'.repeat(65_536), 1_600),
  },
  { name: '64 kB URL', allowed: [431], parts: get(`/v2/courses?title=${'x'.repeat(65_536)}`) },
  {
    name: '200 headers of 1 letter',
    allowed: [431],
    parts: get('/v2/courses', { ...key, ...twoHundredHeaders('x') }),
  },
  {
    name: '200 headers of 90 letters',
    allowed: [431],
    parts: get('/v2/courses', { ...key, ...twoHundredHeaders('x'.repeat(90)) }),
  },
  {
    name: '90,000 form keys',
    allowed: [400],
    parts: post(
      form,
      many(90_000, (n) => `a${n}=1`),
    ),
  },
  {
    name: '5,000 nested form keys',
    allowed: [400],
    parts: post(
      form,
      many(5_001, (n) => `a[b][c][d][e][${n}]=1`),
    ),
  },
  { name: 'a field name of 100,000 brackets', allowed: [400], parts: post(form, `a${'[b]'.repeat(100_000)}=1`) },
  { name: 'JSON arrays nested 100,000 deep', allowed: [400], parts: post(json, deep(100_000, '[', ']')) },
  { name: 'JSON objects nested 100,000 deep', allowed: [400], parts: post(json, deep(100_000, '{"a":', '}')) },
  {
    name: 'a number of 1,000,000 digits',
    allowed: [400],
    parts: post(json, `{"title":"x","level":${'9'.repeat(1e6)}}`),
  },
  {
    name: '10,000 tags',
    allowed: [400],
    parts: post(json, JSON.stringify({ title: 'x', tags: Array(10_000).fill(1) })),
  },
  {
    name: '10,000 tags in a form field',
    allowed: [400],
    parts: post(form, `title=x&tags=[${many(10_000, () => '1', ',')}]`),
  },
  { name: '10,000 tag_ids', allowed: [431], parts: get(`/v2/courses?tag_ids=${many(10_000, () => '1', ',')}`) },
  { name: '7,000 tag_ids', allowed: [400], parts: get(`/v2/courses?tag_ids=${many(7_000, () => '1', ',')}`) },
  { name: '1,000 include[]', allowed: [400], parts: get(`/v2/courses?${many(1_000, () => 'include[]=x')}`) },
  {
    name: 'a gzip body',
    allowed: [415],
    parts: post({ ...json, 'content-encoding': 'gzip' }, gzipSync('{"title":"x"}')),
  },
  {
    name: '500 MB in a gzip body',
    allowed: [415],
    parts: post({ ...json, 'content-encoding': 'gzip' }, gzipBomb),
  },
  {
    name: '50 MB multipart',
    allowed: [413],
    parts: post(multipart, hugeField),
  },
  { name: '50 MB multipart, announced', allowed: [413], parts: announced(multipart, 50 * megabyte) },
  {
    name: '50 MB multipart, chunked',
    allowed: [413],
    parts: streamed(multipart, field('a', 'x'.repeat(65_000)), 800),
    clockFromByte: megabyte,
  },
  {
    name: '50 MB multipart, small fields',
    allowed: [400, 413],
    parts: streamed(multipart, field('a', 'x').repeat(1_000), 900),
    // At most 5,000 are allowed.
    clockFromByte: 5_000 * field('a', 'x').length,
  },
  {
    name: 'an endless multipart header',
    allowed: [400, 413],
    parts: streamed(multipart, `--edge\r\n${'x'.repeat(60_000)}`, 800),
  },
  {
    name: 'an e-mail of 1 MB',
    allowed: [400],
    parts: post(json, JSON.stringify({ title: 'x', email_booking: 'a@'.repeat(500_000) })),
  },
  {
    name: 'a URL of 1 MB',
    allowed: [400],
    parts: post(json, JSON.stringify({ title: 'x', external_booking_url: `http://${'a.'.repeat(500_000)}` })),
  },
  {
    name: 'a title of 1 MB of blanks',
    allowed: [400],
    parts: post(json, JSON.stringify({ title: `x${' '.repeat(1_000_000)}x` })),
  },
  { name: 'invalid UTF-8 in JSON', allowed: [400], parts: post(json, bytes('{"title":"', '"}')) },
  { name: 'invalid UTF-8 in a form', allowed: [400], parts: post(form, bytes('title=', '')) },
  { name: '%ff in a form', allowed: [400], parts: post(form, 'title=%ff%c0') },
  {
    name: 'invalid UTF-8 in multipart',
    allowed: [400],
    parts: post(multipart, bytes('--edge\r\ncontent-disposition: form-data; name="title"\r\n\r\n', '\r\n--edge--\r\n')),
  },
  { name: '%ff in a query string', allowed: [400], parts: get('/v2/courses?updated_at_min=%ff') },
  { name: '%ff in a path', allowed: [400, 404], parts: get('/v2/courses/%ff') },
];

/** `late`: response time without `own`, the longest event loop stall of this process meanwhile. */
type Sample = { status: number; elapsed: number; own: number; late: number; stall: number; growth: number };

const resolution = 5;
const ownDelay = monitorEventLoopDelay({ resolution });
ownDelay.enable();

/** Effect of a case on a server whose memory was `steady` before. */
async function attack(server: Server, { parts, clockFromByte = 0 }: Case, baseline: number): Promise<Sample> {
  const all = parts();
  // Resets the counters, so that the preparation does not count.
  await pause(resolution);
  ownDelay.reset();
  const { status, elapsed } = await sendRaw(server.port, all, { clockFromByte });
  await pause(resolution);
  const own = Math.max(0, ownDelay.max / 1e6 - resolution);
  const { stall, memory } = await inspectServer(server);
  return { status, elapsed, own, late: elapsed - own, stall, growth: memory - baseline };
}

const pluck = (samples: Sample[], of: keyof Sample) => samples.map((sample) => sample[of]);

/** Limits that do not depend on the machine's load. */
function strictFailures({ name, allowed, isWork }: Case, samples: Sample[]) {
  const others = pluck(samples, 'status').filter((status) => !allowed.includes(status));
  const growth = Math.round(Math.max(...pluck(samples, 'growth')));
  return failedChecks({
    [`${name} does not get ${others.join(', ')}`]: others.length === 0,
    [`${name} does not use ${growth} MB`]: isWork || growth <= limits.memory,
  });
}

function timingFailures({ name, isWork }: Case, samples: Sample[]) {
  const [late, stall] = [Math.max(...pluck(samples, 'late')), Math.max(...pluck(samples, 'stall'))];
  return failedChecks({
    [`${name} gets a response within ${limits.response} ms, not ${Math.round(late)}`]: isWork || late < limits.response,
    [`${name} does not stall the event loop for ${Math.round(stall)} ms`]: stall < limits.stall,
  });
}

/** Warms up memory and JIT compilation. */
async function warmUp(run: Run, server: Server) {
  const client = createClient(firstKey);
  run.onCleanup(client.close);
  const course = { title: 'Warm', active: false, text_description: 'x'.repeat(20_000) };
  const fields = `${field('a', 'x').repeat(1_000)}--edge--\r\n`;
  for (let n = 0; n < 150; n += 1) {
    await client.post(`${server.base}/v2/courses`, course);
    await client.get(`${server.base}/v2/courses?limit=10`);
    if (n % 10 === 0) await sendRaw(server.port, requestWithLength('POST', '/v2/courses', multipart, fields));
  }
}

/** Runs all cases in rounds, so that leaks accumulate. */
async function attackAll(server: Server, list: Case[], times: number, baseline: number) {
  const samples = new Map(list.map((testCase) => [testCase, [] as Sample[]]));
  for (let round = 0; round < times; round += 1) {
    for (const testCase of list) samples.get(testCase)!.push(await attack(server, testCase, baseline));
  }
  return samples;
}

const scenario: Scenario = {
  name: 'request limits',
  quick: false,
  async run(run) {
    const postgres = await startPostgres(run, { fsync: 'off' });
    await postgres.create('school');
    await postgres.create('careless');
    const env = (database: string) => ({ DATABASE_URL: postgres.url(database), LOG_LEVEL: 'warn', ...firstProvider });
    const server = await startServer(run, env('school'), { command: inspectedCommand });
    await warmUp(run, server);
    const requests = [...cases, ...(await largeBodies(run, server))];
    const { resident } = await inspectServer(server);

    const times = run.quick ? 3 : 9;
    const seen = await attackAll(server, requests, times, resident);
    const failures = [...seen].flatMap(([testCase, samples]) => strictFailures(testCase, samples));
    const late = [...seen]
      .filter(([testCase, samples]) => timingFailures(testCase, samples).length > 0)
      .map(([testCase]) => testCase);
    // Late responses are measured once more, since the machine may be busy.
    for (const [testCase, samples] of await attackAll(server, late, times, resident)) {
      failures.push(...strictFailures(testCase, samples), ...timingFailures(testCase, samples));
      seen.set(testCase, samples);
    }

    // Negative control: a server with a high body limit reads the 100 MB.
    const unlimited = await startServer(
      run,
      { ...env('careless'), BODY_LIMIT: String(1_000 * megabyte) },
      { command: inspectedCommand },
    );
    const hugeBody = cases.find(({ name }) => name === '100 MB chunked')!;
    const before = await inspectServer(unlimited);
    const control = [await attack(unlimited, hugeBody, before.resident)];
    const found = [...strictFailures(hugeBody, control), ...timingFailures(hugeBody, control)];
    if (found.length < 4)
      failures.push(`control: with a high body limit only these failures are detected: ${found.join(', ')}`);

    const all = [...seen.values()].flat();
    const largest = (samples: Sample[], of: keyof Sample) => Math.round(Math.max(...pluck(samples, of)));
    const ownStalls = all.filter(({ elapsed, late }) => elapsed >= limits.response && late < limits.response);
    return {
      figures: [
        `${requests.length} requests at or over a limit, ${times} times each`,
        `median response ${percentile(pluck(all, 'elapsed'), 0.5).toFixed(1)} ms, at most ${largest(all, 'late')} ms`,
        ...(ownStalls.length > 0
          ? [
              `${ownStalls.length} took ${largest(ownStalls, 'elapsed')} ms including a client stall of ${largest(ownStalls, 'own')} ms`,
            ]
          : []),
        `stall ${largest(all, 'stall')} ms`,
        `memory +${largest(all, 'growth')} MB of ${Math.round(resident)} MB`,
        `control: ${found.length} of 4 failures detected, +${largest(control, 'growth')} MB detected`,
        ...(late.length > 0 ? [`measured again: ${late.map(({ name }) => name).join(', ')}`] : []),
      ].join(', '),
      failures,
    };
  },
};
export default scenario;
