import { monitorEventLoopDelay } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { faultsOf, pause, percentile, type Row, type Run } from '../row.ts';
import { clientOf } from '../support/client.ts';
import { lookInside, watched } from '../support/inside.ts';
import { startPostgres } from '../support/postgres.ts';
import { chunked, headOf, sendRaw, whole } from '../support/raw.ts';
import { firstKey, firstProvider, startServer, type Server } from '../support/server.ts';

type Case = {
  name: string;
  may: number[];
  parts: () => Iterable<string | Buffer>;
  /** Bytes after which the server can reject the request; 0 by default. */
  from?: number;
};
const bars = { answered: 100, stall: 100, memory: 50 };
const megabyte = 1_048_576;

const key = { 'x-api-key': firstKey };
const json = { ...key, 'content-type': 'application/json' };
const form = { ...key, 'content-type': 'application/x-www-form-urlencoded' };
const multipart = { ...key, 'content-type': 'multipart/form-data; boundary=edge' };
const post = (headers: Record<string, string>, body: string | Buffer) => () =>
  whole('POST', '/v2/courses', headers, body);
/** Announces its length and waits: must be rejected before the body is sent. */
const said = (headers: Record<string, string>, length: number) => () => [
  headOf('POST', '/v2/courses', { ...headers, 'content-length': String(length) }),
];
const get =
  (path: string, headers: Record<string, string> = key) =>
  () =>
    whole('GET', path, headers);
const streamed = (headers: Record<string, string>, part: string | Buffer, times: number) => () =>
  chunked('POST', '/v2/courses', headers, Buffer.from(part), times);
const many = (count: number, one: (n: number) => string, between = '&') =>
  Array.from({ length: count }, (_, n) => one(n)).join(between);
const field = (name: string, value: string) =>
  `--edge\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const deep = (times: number, open: string, close: string) => `{"title":${open.repeat(times)}1${close.repeat(times)}}`;
const many200 = (value: string) => Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`x-${n}`, value]));
const bytes = (before: string, after: string) =>
  Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from(after)]);

const bomb = gzipSync(Buffer.alloc(500 * megabyte), { level: 1 });
const filled = `${field('text_lead', 'x'.repeat(50 * megabyte))}--edge--\r\n`;

const cases: Case[] = [
  { name: 'body limit + 1', may: [413], parts: post(json, `"${'x'.repeat(megabyte - 1)}"`) },
  { name: 'body limit + 1, said', may: [413], parts: said(json, megabyte + 1) },
  { name: 'body limit + 1 as a form, said', may: [413], parts: said(form, megabyte + 1) },
  { name: '100 MB chunked', may: [413], parts: streamed(json, ' '.repeat(65_536), 1_600), from: megabyte },
  { name: '100 MB chunked form', may: [413], parts: streamed(form, 'a=b&'.repeat(16_384), 1_600), from: megabyte },
  {
    name: '100 MB without a key',
    may: [401],
    parts: streamed({ ...json, 'x-api-key': 'x' }, 'x'.repeat(65_536), 1_600),
  },
  { name: '64 kB address', may: [431], parts: get(`/v2/courses?title=${'x'.repeat(65_536)}`) },
  {
    name: '200 headers of 1 letter',
    may: [431],
    parts: get('/v2/courses', { ...key, ...many200('x') }),
  },
  {
    name: '200 headers of 90 letters',
    may: [431],
    parts: get('/v2/courses', { ...key, ...many200('x'.repeat(90)) }),
  },
  {
    name: '90,000 form keys',
    may: [400],
    parts: post(
      form,
      many(90_000, (n) => `a${n}=1`),
    ),
  },
  {
    name: '5,000 nested form keys',
    may: [400],
    parts: post(
      form,
      many(5_001, (n) => `a[b][c][d][e][${n}]=1`),
    ),
  },
  { name: 'a name of 100,000 brackets', may: [400], parts: post(form, `a${'[b]'.repeat(100_000)}=1`) },
  { name: 'JSON 100,000 lists deep', may: [400], parts: post(json, deep(100_000, '[', ']')) },
  { name: 'JSON 100,000 objects deep', may: [400], parts: post(json, deep(100_000, '{"a":', '}')) },
  { name: 'a number of 1,000,000 digits', may: [400], parts: post(json, `{"title":"x","level":${'9'.repeat(1e6)}}`) },
  { name: '10,000 tags', may: [400], parts: post(json, JSON.stringify({ title: 'x', tags: Array(10_000).fill(1) })) },
  { name: '10,000 tags as a text', may: [400], parts: post(form, `title=x&tags=[${many(10_000, () => '1', ',')}]`) },
  { name: '10,000 tag_ids', may: [431], parts: get(`/v2/courses?tag_ids=${many(10_000, () => '1', ',')}`) },
  { name: '7,000 tag_ids', may: [400], parts: get(`/v2/courses?tag_ids=${many(7_000, () => '1', ',')}`) },
  { name: '1,000 include[]', may: [400], parts: get(`/v2/courses?${many(1_000, () => 'include[]=x')}`) },
  { name: 'a gzip body', may: [415], parts: post({ ...json, 'content-encoding': 'gzip' }, gzipSync('{"title":"x"}')) },
  {
    name: '500 MB in a gzip body',
    may: [415],
    parts: post({ ...json, 'content-encoding': 'gzip' }, bomb),
  },
  {
    name: '50 MB multipart',
    may: [413],
    parts: post(multipart, filled),
  },
  { name: '50 MB multipart, said', may: [413], parts: said(multipart, 50 * megabyte) },
  {
    name: '50 MB multipart, chunked',
    may: [413],
    parts: streamed(multipart, field('a', 'x'.repeat(65_000)), 800),
    from: megabyte,
  },
  {
    name: '50 MB multipart, small fields',
    may: [400, 413],
    parts: streamed(multipart, field('a', 'x').repeat(1_000), 900),
    // At most 5,000 are allowed.
    from: 5_000 * field('a', 'x').length,
  },
  {
    name: 'a multipart head without an end',
    may: [400, 413],
    parts: streamed(multipart, `--edge\r\n${'x'.repeat(60_000)}`, 800),
  },
  {
    name: 'an e-mail of 1 MB',
    may: [400],
    parts: post(json, JSON.stringify({ title: 'x', email_booking: 'a@'.repeat(500_000) })),
  },
  {
    name: 'an address of 1 MB',
    may: [400],
    parts: post(json, JSON.stringify({ title: 'x', external_booking_url: `http://${'a.'.repeat(500_000)}` })),
  },
  {
    name: 'a title of 1 MB of blanks',
    may: [400],
    parts: post(json, JSON.stringify({ title: `x${' '.repeat(1_000_000)}x` })),
  },
  { name: 'bytes that are no UTF-8 in JSON', may: [400], parts: post(json, bytes('{"title":"', '"}')) },
  { name: 'bytes that are no UTF-8 in a form', may: [400], parts: post(form, bytes('title=', '')) },
  { name: '%ff in a form', may: [400], parts: post(form, 'title=%ff%c0') },
  {
    name: 'bytes that are no UTF-8 in multipart',
    may: [400],
    parts: post(multipart, bytes('--edge\r\ncontent-disposition: form-data; name="title"\r\n\r\n', '\r\n--edge--\r\n')),
  },
  { name: '%ff in a question', may: [400], parts: get('/v2/courses?updated_at_min=%ff') },
  { name: '%ff in a path', may: [400, 404], parts: get('/v2/courses/%ff') },
];

/** `late`: response time without `own`, the longest event loop stall of this process meanwhile. */
type Look = { status: number; took: number; own: number; late: number; stall: number; growth: number };

const resolution = 5;
const ownDelay = monitorEventLoopDelay({ resolution });
ownDelay.enable();

/** Effect of a case on a server whose memory was `steady` before. */
async function attack(server: Server, { parts, from = 0 }: Case, steady: number): Promise<Look> {
  const all = parts();
  // Resets the counters, so that the preparation does not count.
  await pause(resolution);
  ownDelay.reset();
  const { status, took } = await sendRaw(server.port, all, { from });
  await pause(resolution);
  const own = Math.max(0, ownDelay.max / 1e6 - resolution);
  const { stall, memory } = await lookInside(server);
  return { status, took, own, late: took - own, stall, growth: memory - steady };
}

const ofAll = (looks: Look[], of: keyof Look) => looks.map((look) => look[of]);

/** Limits that do not depend on the machine's load. */
function wrongOf({ name, may }: Case, looks: Look[]) {
  const others = ofAll(looks, 'status').filter((status) => !may.includes(status));
  const growth = Math.round(Math.max(...ofAll(looks, 'growth')));
  return faultsOf({
    [`${name} is not answered by ${others.join(', ')}`]: others.length === 0,
    [`${name} takes no ${growth} MB`]: growth <= bars.memory,
  });
}

function lateOf({ name }: Case, looks: Look[]) {
  const [late, stall] = [Math.max(...ofAll(looks, 'late')), Math.max(...ofAll(looks, 'stall'))];
  return faultsOf({
    [`${name} is answered in ${bars.answered} ms, not ${Math.round(late)}`]: late < bars.answered,
    [`${name} does not stall the event loop for ${Math.round(stall)} ms`]: stall < bars.stall,
  });
}

/** Warms up memory and JIT compilation. */
async function warm(run: Run, server: Server) {
  const client = clientOf(firstKey);
  run.afterwards(client.close);
  const course = { title: 'Warm', active: false, text_description: 'x'.repeat(20_000) };
  const fields = `${field('a', 'x').repeat(1_000)}--edge--\r\n`;
  for (let n = 0; n < 150; n += 1) {
    await client.post(`${server.base}/v2/courses`, course);
    await client.get(`${server.base}/v2/courses?limit=10`);
    if (n % 10 === 0) await sendRaw(server.port, whole('POST', '/v2/courses', multipart, fields));
  }
}

/** Runs all cases in rounds, so that leaks accumulate. */
async function attackAll(server: Server, those: Case[], times: number, steady: number) {
  const looks = new Map(those.map((one) => [one, [] as Look[]]));
  for (let round = 0; round < times; round += 1) {
    for (const one of those) looks.get(one)!.push(await attack(server, one, steady));
  }
  return looks;
}

const row: Row = {
  name: 'limits',
  quick: true,
  async run(run) {
    const postgres = await startPostgres(run, { fsync: 'off' });
    await postgres.create('school');
    await postgres.create('careless');
    const env = (database: string) => ({ DATABASE_URL: postgres.url(database), LOG_LEVEL: 'warn', ...firstProvider });
    const server = await startServer(run, env('school'), { command: watched });
    await warm(run, server);
    const { resident } = await lookInside(server);

    const times = run.quick ? 3 : 9;
    const seen = await attackAll(server, cases, times, resident);
    const faults = [...seen].flatMap(([one, looks]) => wrongOf(one, looks));
    const late = [...seen].filter(([one, looks]) => lateOf(one, looks).length > 0).map(([one]) => one);
    // Late responses are measured once more, since the machine may be busy.
    for (const [one, looks] of await attackAll(server, late, times, resident)) {
      faults.push(...wrongOf(one, looks), ...lateOf(one, looks));
      seen.set(one, looks);
    }

    // Negative control: a server with a high body limit reads the 100 MB.
    const careless = await startServer(
      run,
      { ...env('careless'), BODY_LIMIT: String(1_000 * megabyte) },
      { command: watched },
    );
    const endless = cases.find(({ name }) => name === '100 MB chunked')!;
    const before = await lookInside(careless);
    const control = [await attack(careless, endless, before.resident)];
    const found = [...wrongOf(endless, control), ...lateOf(endless, control)];
    if (found.length < 4) faults.push(`where any body is read the look finds no more than ${found.join(', ')}`);

    const all = [...seen.values()].flat();
    const largest = (looks: Look[], of: keyof Look) => Math.round(Math.max(...ofAll(looks, of)));
    const excused = all.filter(({ took, late }) => took >= bars.answered && late < bars.answered);
    return {
      figures: [
        `${cases.length} cases over a limit, ${times} times each`,
        `answered in ${percentile(ofAll(all, 'took'), 0.5).toFixed(1)} ms, at most ${largest(all, 'late')} ms`,
        ...(excused.length > 0
          ? [
              `${excused.length} took ${largest(excused, 'took')} ms with a stall of our own of ${largest(excused, 'own')} ms`,
            ]
          : []),
        `stall ${largest(all, 'stall')} ms`,
        `memory +${largest(all, 'growth')} MB of ${Math.round(resident)} MB`,
        `control: ${found.length} of 4 faults, +${largest(control, 'growth')} MB found`,
        ...(late.length > 0 ? [`asked again for its time: ${late.map(({ name }) => name).join(', ')}`] : []),
      ].join(', '),
      faults,
    };
  },
};
export default row;
