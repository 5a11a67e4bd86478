import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

/** The layers: a file imports from its own layer or the ones before it, never from one after. */
const layers = [
  ['core'],
  ['database', 'embedded-postgres'],
  ['lists'],
  ['http', 'openapi'],
  ['resources', 'interfaces'],
  ['plugins'],
  ['plugins.ts', 'app.ts', 'main.ts', 'cli.ts'],
];
/** The files of a room by what they hold; within a room a file imports from the kinds before its own. */
const kinds = ['schema', 'body-schema', 'loaders', 'serializer', 'filters', 'list', 'sql', 'service', 'routes'];
const kindOf = (file: string) => kinds.findLast((kind) => new RegExp(`(^|[/-])${kind}\\.ts$`).test(file));
/** The kinds of files that a file may import from another room. */
const importable: Record<string, string[]> = {
  schema: ['schema'],
  'body-schema': ['schema', 'body-schema'],
  loaders: ['schema', 'loaders'],
  serializer: ['schema', 'loaders', 'serializer'],
  filters: ['schema', 'loaders', 'filters'],
  list: ['schema', 'loaders', 'serializer', 'filters'],
  sql: ['loaders'],
  service: ['schema', 'loaders', 'serializer', 'list', 'service'],
  routes: ['schema', 'serializer'],
};
/** The maximum of distinct names that a room imports from outside; a namespace import is one name. */
const maxNames = (room: string) => ({ tags: 12, courses: 50, coursedates: 53 })[room] ?? 45;

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

test('src has at most nine folders', () => {
  expect(new Set(files.filter((file) => file.includes('/')).map((file) => file.split('/')[0])).size).toBeLessThan(10);
});

test('the embedded database imports nothing of ours', () => {
  const own = files.filter((file) => file.startsWith('embedded-postgres/'));
  expect(own.flatMap(imports).filter((to) => !to.startsWith('embedded-postgres/'))).toEqual([]);
});

type Import = { file: string; to: string };
const allImports = files.flatMap((file) => imports(file).map((to): Import => ({ file, to })));
const pluginOf = (file: string) => /^plugins\/([^/]+)\//.exec(file)?.[1];

/** Imports from one plugin into another, and those of plugins by anything but the list of them. */
const pluginIntrusions = (all: Import[]) =>
  all.filter(({ file, to }) => pluginOf(to) !== undefined && pluginOf(file) !== pluginOf(to) && file !== 'plugins.ts');

test('a plugin is imported by itself and by plugins.ts alone', () => {
  expect(pluginIntrusions(allImports)).toEqual([]);
});

test('an import from another plugin, and one from the core, is found', () => {
  const of = (file: string, to: string) => ({ file, to });
  const allowed = [of('plugins/docs/a.ts', 'plugins/docs/b.ts'), of('plugins.ts', 'plugins/docs/index.ts')];
  const wrong = [of('plugins/pages/a.ts', 'plugins/docs/b.ts'), of('app.ts', 'plugins/docs/index.ts')];
  expect(pluginIntrusions([...allowed, ...wrong])).toEqual(wrong);
});

test('the list of plugins names each once, by one import', () => {
  const plugins = new Set(files.flatMap((file) => pluginOf(file) ?? []));
  const listed = imports('plugins.ts').flatMap((to) => pluginOf(to) ?? []);
  expect(listed.toSorted()).toEqual([...plugins].toSorted());
});

test('no hook assigns to a context', () => {
  const assigning = files.filter((file) => /\bctx\.\w+ = |Object\.assign\((request\.)?ctx\b/.test(code(file)));
  expect(assigning).toEqual([]);
  expect(files.filter((file) => /\.ctx = /.test(code(file)))).toEqual(['http/auth/authenticate.ts']);
});

test.each(files.filter((file) => file.startsWith('resources/')))('%s imports only what its room may', (file) => {
  const room = file.split('/')[1];
  const kind = kindOf(file);
  expect(kind).toBeDefined();
  const intruding = imports(file).filter((to) => {
    const [folder, otherRoom] = to.split('/');
    if (folder === 'interfaces') return true;
    if (folder === 'http') return kind !== 'routes';
    if (folder !== 'resources') return false;
    const other = kindOf(to)!;
    if (otherRoom === room) return kinds.indexOf(other) > kinds.indexOf(kind!);
    return !importable[kind!]!.includes(other);
  });
  expect(intruding).toEqual([]);
});

test('batch loaders are in the loaders of a room', () => {
  const building = files.filter((file) => file.startsWith('resources/') && code(file).includes('batchLoader('));
  expect(building.filter((file) => kindOf(file) !== 'loaders')).toEqual([]);
});

type Source = { file: string; text: string };
const sources = files.map((file): Source => ({ file, text: code(file) }));
const rooms = [...new Set(files.filter((file) => file.startsWith('resources/')).map((file) => file.split('/')[1]!))];

/** The distinct names that the files of a room import from outside it, each with its module. */
function importedNames(room: string, all: Source[]) {
  const folder = `resources/${room}/`;
  const names = all
    .filter(({ file }) => file.startsWith(folder))
    .flatMap(({ file, text }) =>
      [...text.matchAll(/^import (?:type )?([^'"]+?) from '(\..+?)'/gm)].flatMap(([, clause, path]) => {
        const module = relative(src, join(src, dirname(file), path!));
        const imported = clause!.replace(/[{}]/g, ',').split(',').map(toImportedName).filter(Boolean);
        return module.startsWith(folder) ? [] : imported.map((name) => `${module} ${name}`);
      }),
    );
  return [...new Set(names)];
}

/** `type Page as One` imports the name `Page`, and `* as t` the module's namespace. */
const toImportedName = (specifier: string) =>
  specifier
    .trim()
    .replace(/^type /, '')
    .split(' as ')[0]!;

test.each(rooms)('%s imports at most 45 names from outside, tags at most 12', (room) => {
  const names = importedNames(room, sources);
  expect(names.length, names.join('\n')).toBeLessThanOrEqual(maxNames(room));
});

test('a room with too many names is found', () => {
  const many = Array.from({ length: 40 }, (_, n) => `name${n}`);
  const samples = [
    {
      file: 'resources/tags/service.ts',
      text: `import { ${many.join(', ')}, type One as Other } from '../../core/context.ts';
import * as t from '../../schema/types.ts';
import type { TagBody } from './body-schema.ts';
import { eq } from 'drizzle-orm';`,
    },
    {
      file: 'resources/tags/routes.ts',
      text: `import {
  name1,
  type One,
  last,
} from '../../core/context.ts';
import type * as all from '../../schema/types.ts';
import whole from '../../lists/filters.ts';`,
    },
    { file: 'resources/users/routes.ts', text: "import { more } from '../../core/context.ts';" },
  ];
  const names = importedNames('tags', samples);
  expect(names).toHaveLength(many.length + ['One', 'last', '*', 'whole'].length);
  expect(names.length).toBeGreaterThan(maxNames('tags'));
});

test.each(files)('%s has at most 300 lines', (file) => {
  expect(lines(file).length).toBeLessThanOrEqual(300);
});

/** The functions of more than 60 lines, without route plugins, which declare one route after another. */
function longFunctions({ file, text }: Source) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isFunctionLike(node) && lineAt(node.end) - lineAt(node.getStart()) >= 60) {
      const declared = ts.isVariableDeclaration(node.parent) ? node.parent : node;
      const name = declared.name?.getText() ?? '';
      const isPlugin = /(Routes|Plugin|[pP]ages)$/.test(name) || /^FastifyPlugin/.test(declared.type?.getText() ?? '');
      if (!isPlugin) found.push(`${file} ${name}`);
    }
    node.forEachChild(visit);
  };
  visit(source);
  return found;
}

test('no function but route plugins has more than 60 lines', () => {
  expect(sources.flatMap(longFunctions)).toEqual([]);
});

test('a function of 61 lines is found', () => {
  const body = (lines: number) => `{\n${'  work();\n'.repeat(lines - 2)}}`;
  const text = `
function short() ${body(60)}
function long() ${body(61)}
const alsoLong = () => ${body(61)};
const typed: FastifyPluginAsync = async (app) => ${body(61)};
const someRoutes = (app) => ${body(61)};
const object = { method() ${body(61)} };`;
  const found = longFunctions({ file: 'file.ts', text });
  expect(found).toEqual(['file.ts long', 'file.ts alsoLong', 'file.ts method']);
});

test('only the configuration reads the environment', () => {
  const reading = files.filter((file) => code(file).includes('process.env'));
  // main and the command line hand the environment to readConfig; the embedded database hands its own on to PostgreSQL.
  expect(reading.filter((file) => !file.startsWith('embedded-postgres/'))).toEqual([
    'interfaces/cli/run.ts',
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

test('each advisory lock has a key of its own', () => {
  const inCode = sources.flatMap(({ text }) => text.match(/\b7_291_543_\d+\b/g) ?? []);
  const inMigrations = readdirSync('migrations')
    .filter((name) => name.endsWith('.sql'))
    .flatMap((name) => readFileSync(`migrations/${name}`, 'utf8').match(/\b7291543\d+\b/g) ?? []);
  expect(inCode.length).toBeGreaterThan(1);
  // A migration may replace a function, which then has the same key.
  const keys = [...inCode.map((key) => key.replaceAll('_', '')), ...new Set(inMigrations)];
  expect(keys).toHaveLength(new Set(keys).size);
});
