import { execFile } from 'node:child_process';
import { chromium } from 'playwright-core';
import { toPairs } from '../../support/dialects.ts';
import { chromiumPath, findChromium } from '../../support/programs.ts';
import type { Scenario } from '../scenario.ts';
import { createClient } from '../support/client.ts';
import { startPostgres } from '../support/postgres.ts';
import { firstKey, firstProvider, startServer } from '../support/server.ts';

/** Inactive, so that they may share a title. */
const course = {
  title: 'Førstehjelp 🚑 & "mer" = 100 % + 1',
  active: false,
  is_full_time: true,
  is_part_time: false,
  level: 13,
  price_value: 1500,
  price_comment: "O'Hara; a=b&c=d #1 ?x",
  text_description: '<p class="a">Hei &amp; hå</p>\r\n日本語 \\ %41 +\r\n',
  tags: [{ title: 'Ny & på' }, { title: 'b' }],
  custom_properties: { colour: 'grønn', 'cost centre': '12' },
  translations: { en: { lead: 'In English', hotelInfo: 'Close = near' } },
};
const flat = Object.fromEntries(toPairs(course));
/** A flat array: lists as JSON, objects by bracketed names. */
const shallow = Object.fromEntries([
  ...toPairs({ ...course, tags: undefined }),
  ['tags', JSON.stringify(course.tags)],
]) as Record<string, string>;

/** A program that prints the response; URL, key and fields are in its environment. */
type ClientCall = [name: string, program: string, args: (where: { url: string }) => string[], fields?: object];

const header = `X-API-Key: ${firstKey}`;
const asJson = 'Content-Type: application/json';
const curl = ['-sS', '-X', 'POST', '-H', header];
const php = (code: string) => () => ['-r', `$fields = json_decode(getenv('FIELDS'), true); ${code}`];
const phpStream = (body: string, type: string) =>
  php(`$http = ['method' => 'POST', 'ignore_errors' => true, 'content' => ${body},
    'header' => ['X-API-Key: ' . getenv('KEY'), 'Content-Type: ${type}']];
    echo file_get_contents(getenv('URL'), false, stream_context_create(['http' => $http]));`);
const phpCurl = (body: string, more = '') =>
  php(`$curl = curl_init(getenv('URL'));
    curl_setopt_array($curl, [CURLOPT_HTTPHEADER => ['X-API-Key: ' . getenv('KEY')${more}], CURLOPT_POSTFIELDS => ${body}]);
    curl_exec($curl);`);
const python = (body: string, type: string) => () => [
  '-c',
  `import json, os, sys, urllib.request, urllib.parse
fields = json.loads(os.environ['FIELDS'])
headers = {'X-API-Key': os.environ['KEY'], 'Content-Type': '${type}'}
request = urllib.request.Request(os.environ['URL'], data=${body}, headers=headers)
try:
    print(urllib.request.urlopen(request).read().decode())
except urllib.error.HTTPError as error:
    print(error.read().decode())`,
];
const form = 'application/x-www-form-urlencoded';

const calls: ClientCall[] = [
  [
    'curl, form',
    'curl',
    ({ url }) => [
      ...curl,
      ...Object.entries(flat).flatMap(([name, value]) => ['--data-urlencode', `${encodeURIComponent(name)}=${value}`]),
      url,
    ],
  ],
  [
    'curl, multipart',
    'curl',
    ({ url }) => [
      ...curl,
      ...Object.entries(flat).flatMap(([name, value]) => ['--form-string', `${name}=${value}`]),
      url,
    ],
  ],
  ['curl, JSON', 'curl', ({ url }) => [...curl, '-H', asJson, '--data-binary', JSON.stringify(course), url]],
  [
    'curl, chunked',
    'curl',
    ({ url }) => [...curl, '-H', asJson, '-H', 'Transfer-Encoding: chunked', '-d', JSON.stringify(course), url],
  ],
  [
    'curl, expecting 100',
    'curl',
    ({ url }) => [...curl, '-H', asJson, '-H', 'Expect: 100-continue', '-d', JSON.stringify(course), url],
  ],
  ['PHP, http_build_query', 'php', phpStream(`http_build_query($fields, '', '&')`, form)],
  [
    'PHP, http_build_query by RFC 3986',
    'php',
    phpStream(`http_build_query($fields, '', '&', PHP_QUERY_RFC3986)`, form),
  ],
  ['PHP, json_encode', 'php', phpStream('json_encode($fields)', 'application/json')],
  ['PHP curl, http_build_query', 'php', phpCurl(`http_build_query($fields, '', '&')`)],
  ['PHP curl, array', 'php', phpCurl('$fields'), shallow],
  ['PHP curl, array of named items', 'php', phpCurl('$fields'), flat],
  ['PHP curl, json_encode', 'php', phpCurl('json_encode($fields)', `, '${asJson}'`)],
  ['Python, urlencode', 'python3', python('urllib.parse.urlencode(fields).encode()', form), flat],
  ['Python, JSON', 'python3', python('json.dumps(fields).encode()', 'application/json')],
  ['Python, JSON in UTF-8', 'python3', python('json.dumps(fields, ensure_ascii=False).encode()', 'application/json')],
];
/** Client mistakes: another charset, and a boolean that PHP converts to an empty string. */
const wrongCalls: ClientCall[] = [
  [
    'Latin-1',
    'python3',
    python(`urllib.parse.urlencode(fields, encoding='latin-1', errors='replace').encode()`, form),
    flat,
  ],
  ['false in an array', 'php', phpCurl('$fields'), { ...shallow, active: false }],
];
const inBrowser: Record<string, string> = {
  'fetch, URLSearchParams': 'new URLSearchParams(flat)',
  'fetch, FormData':
    'Object.entries(flat).reduce((form, [name, value]) => (form.append(name, value), form), new FormData())',
  'fetch, JSON': 'JSON.stringify(course)',
};

const scenario: Scenario = {
  name: 'body formats',
  quick: false,
  requires: {
    curl: 'curl --version',
    'php-cli': 'php --version',
    'php-curl': `php -r 'exit(function_exists("curl_init") ? 0 : 1);'`,
    python3: 'python3 --version',
    chromium: findChromium,
  },
  async run(run) {
    const postgres = await startPostgres(run, { fsync: 'off' });
    await postgres.create('school');
    const server = await startServer(run, {
      DATABASE_URL: postgres.url('school'),
      LOG_LEVEL: 'error',
      ...firstProvider,
    });
    const url = `${server.base}/v2/courses`;
    const client = createClient(firstKey);
    run.onCleanup(client.close);
    const database = await postgres.connect('school');
    run.onCleanup(() => database.end());

    /** All stored values of the created course; the response itself if it is an error. */
    async function loadStored(response: string) {
      const id = /^\{"course_id":(\d+)\}$/.exec(response.trim())?.[1];
      if (id === undefined) return response.slice(0, 200);
      const { rows } = await database.query<{ stored: object }>(
        `select jsonb_build_object(
          'course', to_jsonb(c) - array['id', 'slug', 'slug_has_id', 'created_at', 'updated_at', 'related_items_updated_at'],
          'tags', (select jsonb_agg(tag_id order by tag_id) from course_tags where course_id = c.id),
          'products', (select jsonb_agg(to_jsonb(p) - array['id', 'course_id', 'created_at', 'updated_at']) from products p where course_id = c.id),
          'translations', (select jsonb_agg(to_jsonb(t) - 'course_id') from course_translations t where course_id = c.id)) as stored
          from courses c where id = $1`,
        [id],
      );
      return JSON.stringify(rows[0]!.stored);
    }
    const runClient = async ([, program, args, fields = course]: ClientCall) => {
      const env = { ...process.env, URL: url, KEY: firstKey, FIELDS: JSON.stringify(fields) };
      return new Promise<string>((done) =>
        execFile(program, args({ url }), { env }, (_error, stdout, stderr) => done(stdout || stderr)),
      );
    };

    const reference = await loadStored((await client.post(url, course)).text);
    const stored: [string, string][] = [];
    for (const call of calls) stored.push([call[0], await loadStored(await runClient(call))]);

    const browser = await chromium.launch({
      executablePath: chromiumPath!,
      args: ['--disable-dev-shm-usage', '--no-sandbox'],
    });
    run.onCleanup(() => browser.close());
    const page = await browser.newPage();
    await page.goto(`${server.base}/live`);
    for (const [name, body] of Object.entries(inBrowser)) {
      const headers = {
        'X-API-Key': firstKey,
        ...(name.endsWith('JSON') ? { 'Content-Type': 'application/json' } : {}),
      };
      const response = await page.evaluate<string>(
        `(async (course, flat) => (await fetch('/v2/courses', { method: 'POST', headers: ${JSON.stringify(headers)}, body: ${body} })).text())(${JSON.stringify(course)}, ${JSON.stringify(flat)})`,
      );
      stored.push([name, await loadStored(response)]);
    }
    const different = (list: [string, string][]) => list.filter(([, value]) => value !== reference);
    const wrong: [string, string][] = [];
    for (const call of wrongCalls) wrong.push([call[0], await loadStored(await runClient(call))]);
    const seen = different(wrong).map(([name]) => name);

    return {
      figures: `${stored.length} requests by curl, PHP, Python and Chromium store the same course of ${reference.length} characters, control: ${seen.join(' and ')} detected`,
      failures: [
        ...(reference.includes('grønn') ? [] : [`the reference is not stored: ${reference}`]),
        ...different(stored).map(([name, value]) => `${name} stores a different course: ${value}`),
        ...(seen.length === wrongCalls.length ? [] : ['control: different input not detected']),
      ],
    };
  },
};
export default scenario;
