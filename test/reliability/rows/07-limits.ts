import { gzipSync } from 'node:zlib';
import { percentile, type Row, type Run } from '../row.ts';
import { clientOf } from '../support/client.ts';
import { lookInside, watched } from '../support/inside.ts';
import { startPostgres } from '../support/postgres.ts';
import { chunked, sendRaw, whole, type Reply } from '../support/raw.ts';
import { firstKey, firstProvider, startServer, type Server } from '../support/server.ts';

type Case = { name: string; may: number[]; parts: () => Iterable<string | Buffer> };
const bars = { answered: 100, stall: 100, memory: 50 };
const megabyte = 1_048_576;

const key = { 'x-api-key': firstKey };
const json = { ...key, 'content-type': 'application/json' };
const form = { ...key, 'content-type': 'application/x-www-form-urlencoded' };
const multipart = { ...key, 'content-type': 'multipart/form-data; boundary=edge' };
const post = (headers: Record<string, string>, body: string | Buffer) => () =>
  whole('POST', '/v2/courses', headers, body);
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
const bytes = (before: string, after: string) =>
  Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from(after)]);

const cases: Case[] = [
  { name: 'body limit + 1', may: [413], parts: post(json, `"${'x'.repeat(megabyte - 1)}"`) },
  { name: '100 MB chunked', may: [413], parts: streamed(json, ' '.repeat(65_536), 1_600) },
  { name: '100 MB chunked form', may: [413], parts: streamed(form, 'a=b&'.repeat(16_384), 1_600) },
  {
    name: '100 MB without a key',
    may: [401],
    parts: streamed({ ...json, 'x-api-key': 'x' }, 'x'.repeat(65_536), 1_600),
  },
  { name: '64 kB address', may: [431], parts: get(`/v2/courses?title=${'x'.repeat(65_536)}`) },
  {
    name: '200 headers',
    may: [431],
    parts: get('/v2/courses', {
      ...key,
      ...Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`x-${n}`, 'x'.repeat(90)])),
    }),
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
    parts: post({ ...json, 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(500 * megabyte))),
  },
  {
    name: '50 MB multipart',
    may: [413],
    parts: () =>
      whole('POST', '/v2/courses', multipart, `${field('text_lead', 'x'.repeat(50 * megabyte))}--edge--\r\n`),
  },
  { name: '50 MB multipart, chunked', may: [413], parts: streamed(multipart, field('a', 'x'.repeat(65_000)), 800) },
  {
    name: '50 MB multipart, small fields',
    may: [400, 413],
    parts: streamed(multipart, field('a', 'x').repeat(1_000), 900),
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

/** What a case does to a server, and what of it is not as it must be. */
async function attack(server: Server, { name, may, parts }: Case, memoryBefore: number) {
  const made = [...(name.includes('MB') ? [] : parts())];
  await lookInside(server);
  const reply = await sendRaw(server.port, made.length > 0 ? made : parts());
  const { stall, memory } = await lookInside(server);
  const growth = memory - memoryBefore;
  const faults = [
    may.includes(reply.status) ? undefined : `${name} is answered by ${reply.status}`,
    reply.took < bars.answered ? undefined : `${name} takes ${Math.round(reply.took)} ms`,
    stall < bars.stall ? undefined : `${name} stalls the event loop for ${Math.round(stall)} ms`,
    growth < bars.memory ? undefined : `${name} takes ${Math.round(growth)} MB`,
  ];
  return { reply, stall, growth, faults: faults.filter((fault) => fault !== undefined) };
}

/** Until its memory and its code are those of a server at work. */
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
  return (await lookInside(server)).memory;
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
    const before = await warm(run, server);

    const faults: string[] = [];
    const seen: { reply: Reply; stall: number; growth: number }[] = [];
    for (let round = 0; round < (run.quick ? 1 : 3); round += 1) {
      for (const one of cases) {
        const tries = [await attack(server, one, before)];
        // A busy machine may be late; not three times.
        while (tries.at(-1)!.faults.length > 0 && tries.length < 3) tries.push(await attack(server, one, before));
        seen.push(tries.at(-1)!);
        faults.push(...tries.at(-1)!.faults);
      }
    }

    // The negative control: a server that takes any body reads the 100 MB.
    const careless = await startServer(
      run,
      { ...env('careless'), BODY_LIMIT: String(1_000 * megabyte) },
      { command: watched },
    );
    const control = await attack(careless, cases[1]!, (await lookInside(careless)).memory);
    if (control.faults.length < 3) faults.push('the look finds nothing where any body is read');

    const largest = (values: number[]) => Math.round(Math.max(...values));
    const took = seen.map(({ reply }) => reply.took);
    return {
      figures: [
        `${seen.length} requests over a limit`,
        `answered in ${percentile(took, 0.5).toFixed(1)} ms, at most ${largest(took)} ms`,
        `stall ${largest(seen.map(({ stall }) => stall))} ms`,
        `memory +${largest(seen.map(({ growth }) => growth))} MB of ${Math.round(before)} MB`,
        `control: +${Math.round(control.growth)} MB found`,
      ].join(', '),
      faults,
    };
  },
};
export default row;
