import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

/** The layers: a file imports from its own layer or the ones before it, never from one after. */
const layers = [
  ['lib', 'reference'],
  ['database'],
  ['embedded-postgres'],
  ['core', 'schema'],
  ['lists'],
  ['http'],
  ['audit', 'resources'],
  ['mail'],
  ['import-export'],
  ['demo', 'doctor'],
  ['pages'],
  ['interfaces'],
  ['app.ts', 'config.ts'],
  ['runtime'],
  ['commands'],
  ['main.ts', 'cli.ts'],
];
/** The files of a room by what they hold; within a room a file imports from the kinds before its own. */
const kinds = ['schema', 'body-schema', 'loaders', 'serializer', 'filters', 'list', 'sql', 'service', 'routes'];
const kindOf = (file: string) => kinds.findLast((kind) => new RegExp(`(^|[/-])${kind}\\.ts$`).test(file));
/** Kinds of files that another room may import. */
const shared = ['schema', 'loaders', 'serializer', 'filters', 'list'];

const src = join(import.meta.dirname, '../../src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .sort();
const lines = (file: string) => readFileSync(join(src, file), 'utf8').split('\n');
const code = (file: string) => readFileSync(join(src, file), 'utf8');
const imports = (file: string) =>
  [...code(file).matchAll(/(?:from|import\() ?'(\..+?)'/g)].map(([, to]) =>
    relative(src, join(src, dirname(file), to!)),
  );
const layer = (file: string) => layers.findIndex((folders) => folders.includes(file.split('/')[0]!));

test('every file has a layer', () => expect(files.filter((file) => layer(file) < 0)).toEqual([]));

test.each(files)('%s imports from its own layer or the ones below', (file) => {
  expect(imports(file).filter((to) => layer(to) > layer(file))).toEqual([]);
});

test.each(files.filter((file) => file.startsWith('resources/')))('%s imports only what its room may', (file) => {
  const room = file.split('/')[1];
  const kind = kindOf(file);
  expect(kind).toBeDefined();
  const intruding = imports(file).filter((to) => {
    const [folder, otherRoom] = to.split('/');
    if (folder === 'http') return kind !== 'routes';
    if (folder !== 'resources') return false;
    const other = kindOf(to)!;
    if (otherRoom === room) return kinds.indexOf(other) > kinds.indexOf(kind!);
    return !shared.includes(other) && !(kind === 'service' && other === 'service');
  });
  expect(intruding).toEqual([]);
});

test.each(files)('%s has at most 300 lines', (file) => {
  expect(lines(file).length).toBeLessThanOrEqual(300);
});

test('only the configuration reads the environment', () => {
  const reading = files.filter((file) => code(file).includes('process.env'));
  // main and the command line hand the environment to readConfig; the embedded database hands its own on to PostgreSQL.
  expect(reading.filter((file) => !file.startsWith('embedded-postgres/'))).toEqual([
    'cli.ts',
    'commands/connect.ts',
    'main.ts',
  ]);
});

test('the collation is defined in one place', () => {
  expect(files.filter((file) => code(file).includes('und-x-icu'))).toEqual(['database/tables/columns.ts']);
});

test('there are no cycles', () => {
  const seen = new Map<string, 'open' | 'done'>();
  const cycles: string[] = [];
  const visit = (file: string, path: string[]) => {
    if (seen.get(file) === 'open') cycles.push([...path, file].join(' → '));
    if (seen.has(file)) return;
    seen.set(file, 'open');
    for (const to of imports(file)) visit(to, [...path, file]);
    seen.set(file, 'done');
  };
  for (const file of files) visit(file, []);
  expect(cycles).toEqual([]);
});
