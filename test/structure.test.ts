import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

/** The whole architecture: a file imports from its own floor or the ones before it, never from one after. */
const floors = [
  ['database'],
  ['core', 'reference'],
  ['lists'],
  ['http'],
  ['resources'],
  ['mail'],
  ['exchange'],
  ['demo', 'doctor'],
  ['v2.ts', 'legacy.ts', 'pages'],
  ['app.ts', 'config.ts'],
  ['process'],
  ['commands'],
  ['main.ts', 'cli.ts'],
];
/** The same inside a resource. A neighbour's schema and shape are common ground; the rest of its room is private, but for services. */
const steps = ['schema.ts', 'body.ts', 'shape.ts', 'query.ts', 'service.ts', 'routes.ts'];

const src = join(import.meta.dirname, '../src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .sort();
const lines = (file: string) => readFileSync(join(src, file), 'utf8').split('\n');
const code = (file: string) => readFileSync(join(src, file), 'utf8');
const imports = (file: string) =>
  [...code(file).matchAll(/(?:from|import\() ?'(\..+?)'/g)].map(([, to]) =>
    relative(src, join(src, dirname(file), to!)),
  );
const floor = (file: string) => floors.findIndex((rooms) => rooms.includes(file.split('/')[0]!));
/** Types of the database stand in what every floor hands on. */
const typesOnly = (file: string, to: string) =>
  [...code(file).matchAll(/import (type )?[^;]*?from '(\..+?)'/g)]
    .filter(([, , path]) => relative(src, join(src, dirname(file), path!)) === to)
    .every(([, type]) => type !== undefined);

test('every file has a floor', () => expect(files.filter((file) => floor(file) < 0)).toEqual([]));

test.each(files)('%s looks down, never up', (file) => {
  expect(imports(file).filter((to) => floor(to) > floor(file) && !typesOnly(file, to))).toEqual([]);
});

test.each(files.filter((file) => file.startsWith('resources/')))('%s keeps to its room', (file) => {
  const [, room, step] = file.split('/');
  expect(steps).toContain(step);
  const intruding = imports(file).filter((to) => {
    const [folder, otherRoom, otherStep] = to.split('/');
    if (folder === 'http') return step !== 'routes.ts';
    if (folder !== 'resources') return false;
    if (otherRoom !== room)
      return (
        otherStep !== 'schema.ts' && otherStep !== 'shape.ts' && !(step === 'service.ts' && otherStep === 'service.ts')
      );
    return steps.indexOf(otherStep!) >= steps.indexOf(step!);
  });
  expect(intruding).toEqual([]);
});

test.each(files)('%s can be read at one sitting', (file) => {
  expect(lines(file).length).toBeLessThanOrEqual(300);
});

test('only the configuration reads the environment', () => {
  const reading = files.filter((file) => code(file).includes('process.env'));
  // main and the command line hand the environment to readConfig; the embedded database hands its own on to PostgreSQL.
  expect(reading.filter((file) => !file.startsWith('database/embedded/'))).toEqual([
    'cli.ts',
    'commands/connect.ts',
    'main.ts',
  ]);
});

test('how texts are compared is written in one place', () => {
  expect(files.filter((file) => code(file).includes('und-x-icu'))).toEqual(['database/tables/columns.ts']);
});

test('there are no cycles', () => {
  const seen = new Map<string, 'open' | 'done'>();
  const cycles: string[] = [];
  const visit = (file: string, path: string[]) => {
    if (seen.get(file) === 'open') cycles.push([...path, file].join(' → '));
    if (seen.has(file)) return;
    seen.set(file, 'open');
    for (const to of imports(file)) if (!typesOnly(file, to)) visit(to, [...path, file]);
    seen.set(file, 'done');
  };
  for (const file of files) visit(file, []);
  expect(cycles).toEqual([]);
});
