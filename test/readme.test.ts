import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Environment } from '../src/config.ts';
import { importFields } from './support/import-fields.ts';

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

test('the README has every environment variable, as the configuration checks it', () => {
  expect(squeezed(readme)).toContain(squeezed(table()));
});

test('the README names every folder of src', () => {
  for (const folder of [
    'commands',
    'process',
    'exchange',
    'resources',
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

test('the README says what the rooms without routes are for', () => {
  const rooms = readdirSync('src/resources').filter((room) => !existsSync(`src/resources/${room}/routes.ts`));
  expect(rooms.filter((room) => !readme.includes(`\`${room}\``))).toEqual([]);
});

test('the README gives a reason for every library that runs', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> };
  expect(Object.keys(dependencies).filter((name) => !readme.includes(name))).toEqual([]);
});

test('the documentation of imports lists every kind and field, as lines are checked', () => {
  const rows = importFields.map(([name, fields]) => `| ${name} | ${fields} |`);
  expect(squeezed(readFileSync('docs/import.md', 'utf8'))).toContain(squeezed(rows.join('\n')));
});
