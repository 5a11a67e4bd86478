import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { demoDatabase, startDemoServer } from '../../support/demo-database.ts';
import { curlSamplesOf, programsIn, type Language } from '../../support/documented-samples.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { succeeds } from '../../support/programs.ts';

const run = promisify(execFile);

async function startDemo() {
  const database = await demoDatabase();
  const { key } = database;
  const { env, url } = await startDemoServer(database);
  const call = async (method: string, path: string, fields?: object) => {
    const headers = { 'x-api-key': key, ...(fields && { 'content-type': 'application/json' }) };
    const response = await fetch(url + path, {
      method,
      headers,
      ...(fields && { body: JSON.stringify(fields) }),
    });
    return { status: response.status, body: await response.json() };
  };
  return { env, call };
}
type Demo = Awaited<ReturnType<typeof startDemo>>;

/** Creates, changes and deletes courses until it is stopped; returns the number of accepted writes. */
function startWriter({ call }: Demo) {
  let [writing, accepted] = [true, 0];
  const count = ({ status }: { status: number }) => (accepted += status < 300 ? 1 : 0);
  const work = async () => {
    for (let n = 0; writing; n += 1) {
      const created = await call('POST', '/v2/courses', { title: `Written meanwhile ${n}` });
      count(created);
      const path = `/v2/courses/${created.body.course_id}`;
      if (n % 2 === 0) count(await call('PUT', path, { title: `Renamed ${n}` }));
      if (n % 3 === 0) count(await call('DELETE', path));
    }
  };
  const done = work();
  return {
    accepted: () => accepted,
    stop: async () => {
      writing = false;
      await done;
    },
  };
}

const readAll = async ({ call }: Demo) => {
  const courses: Record<number, { id: number }> = {};
  for (let lastId = 0; ;) {
    const { body } = await call('GET', `/v2/courses?limit=250&since_id=${lastId}`);
    for (const course of body) courses[course.id] = course;
    if (body.length === 0) return courses;
    lastId = body.at(-1).id;
  }
};

const languages: Record<string, { isThere: string; command: string[] }> = {
  php: { isThere: `php -r 'exit(function_exists("curl_init") ? 0 : 1);'`, command: ['php'] },
  ts: { isThere: 'true', command: [resolve('node_modules/.bin/tsx')] },
  python: { isThere: 'python3 -c "import sys; sys.exit(sys.version_info < (3, 9))"', command: ['python3', '-B'] },
};

test.for(Object.keys(languages))('the program in %s keeps its copy equal during writes', async (language, { skip }) => {
  const { isThere, command } = languages[language]!;
  if (!succeeds(isThere)) return skip(`${language} is missing`);
  const demo = await startDemo();
  const cwd = temporaryFolder();
  const programs = programsIn(language as Language);
  for (const { file, text } of programs) writeFileSync(join(cwd, file), text);
  const { file } = programs.find(({ title }) => title === 'follow')!;
  const follow = () => run(command[0]!, [...command.slice(1), file], { env: demo.env, cwd });

  const writer = startWriter(demo);
  for (let round = 0; round < 4 || writer.accepted() <= 20; round += 1) await follow();
  await writer.stop();
  const { stdout } = await follow();
  const expected = await readAll(demo);
  const copy = JSON.parse(readFileSync(join(cwd, 'copy.json'), 'utf8')) as { courses: object };
  expect(copy.courses).toEqual(expected);
  expect(stdout).toContain(`${Object.keys(expected).length} courses\n`);
});

test('the curl sample prints every change', async () => {
  const demo = await startDemo();
  const sample = curlSamplesOf('docs/guides/changes.md').find(({ text }) => text.includes('while :'))!;
  const writer = startWriter(demo);
  // Writes before the sample has its cursor are not in its output.
  await sleep(500);
  const { stdout } = await run('sh', ['-c', sample.text], { env: demo.env, cwd: temporaryFolder() });
  await writer.stop();
  const pages = stdout.match(/\{"items":\[.*?\],"cursor":"[^"]+","has_more":(true|false)\}/g) ?? [];
  const changes = pages.flatMap(
    (page) => (JSON.parse(page) as { items: { id: number; type: string; resource_id: number }[] }).items,
  );
  expect(changes.length).toBeGreaterThan(1);
  const all = (await demo.call('GET', '/v2/courses?limit=250&since_id=0')).body as { id: number; title: string }[];
  const own = all.find(({ title }) => title === 'Rigging for beginners')!.id;
  expect(changes.filter(({ type, resource_id }) => type === 'course.created' && resource_id === own)).toHaveLength(1);
  const ids = changes.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
});
