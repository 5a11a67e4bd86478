import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

/** The layers: a file imports from its own layer or the ones before it, never from one after. */
const layers = [
  ['core'],
  ['database', 'embedded-postgres'],
  ['lists'],
  ['http'],
  ['domains', 'interfaces'],
  ['plugins'],
  ['plugins.ts', 'jobs.ts', 'app.ts', 'main.ts', 'cli.ts'],
];
/** Each imports only those before it. */
const domains = ['school', 'messages', 'people', 'courses', 'participants', 'orders', 'bookings', 'records'];
/** The files of a resource by what they hold; within a resource a file imports from the kinds before its own. */
const kinds = [
  'schema',
  'fields',
  'body-schema',
  'loaders',
  'serializer',
  'filters',
  'list',
  'sql',
  'service',
  'routes',
];
const kindOf = (file: string) => kinds.findLast((kind) => new RegExp(`(^|[/-])${kind}\\.ts$`).test(file));
/** The kinds of files that a file may import from another resource. */
const importable: Record<string, string[]> = {
  schema: ['schema', 'fields'],
  fields: ['schema', 'fields'],
  'body-schema': ['schema', 'fields', 'body-schema'],
  loaders: ['schema', 'fields', 'loaders'],
  serializer: ['schema', 'fields', 'loaders', 'serializer'],
  filters: ['schema', 'fields', 'loaders', 'filters'],
  list: ['schema', 'fields', 'loaders', 'serializer', 'filters'],
  sql: ['schema', 'loaders'],
  service: ['schema', 'fields', 'loaders', 'serializer', 'list', 'service'],
  routes: ['schema', 'fields', 'serializer'],
};

const src = join(import.meta.dirname, '../../src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .sort();
const code = (file: string) => readFileSync(join(src, file), 'utf8');
const imports = (file: string) =>
  [...code(file).matchAll(/(?:from|import\() ?'(\..+?)'/g)].map(([, to]) =>
    relative(src, join(src, dirname(file), to!)),
  );
const layer = (file: string) => layers.findIndex((folders) => folders.includes(file.split('/')[0]!));

/** The imports of files of a later layer. */
const importsOfLaterLayers = (file: string, imported = imports(file)) =>
  imported.filter((to) => layer(to) > layer(file)).map((to) => `${file}: ${to}`);

test('every file has a layer', () => expect(files.filter((file) => layer(file) < 0)).toEqual([]));

test('every file imports from its own layer or the ones below', () => {
  expect(files.flatMap((file) => importsOfLaterLayers(file))).toEqual([]);
});

test('an import of a later layer is found', () => {
  const imported = ['database/client.ts', 'http/auth.ts', 'lib/text.ts'];
  expect(importsOfLaterLayers('lists/filters.ts', imported)).toEqual(['lists/filters.ts: http/auth.ts']);
});

test('src has at most nine folders', () => {
  expect(new Set(files.filter((file) => file.includes('/')).map((file) => file.split('/')[0])).size).toBeLessThan(10);
});

test('style sheets, scripts and data have distinct names, since a build copies them into one folder', () => {
  const all = readdirSync(src, { recursive: true, encoding: 'utf8' });
  const names = all.filter((file) => /\.(css|js|ndjson|sh)$/.test(file)).map((file) => basename(file));
  expect(names).toEqual(expect.arrayContaining(['watchdog.sh', 'fjordkurs-bergen.ndjson']));
  expect(names).toHaveLength(new Set(names).size);
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
  // Each sets that of its own requests.
  const creating = [
    'http/auth/authenticate.ts',
    'plugins/pages/catalog/open-catalog.ts',
    'plugins/pages/my/calendar-feed.ts',
  ];
  expect(files.filter((file) => /\.ctx = /.test(code(file)))).toEqual(creating);
});

type Domain = { domain: string; resource: string };
/** The domain and the resource of `domains/orders/credits/service.ts`. */
function domainOf(file: string): Domain | undefined {
  const [, domain, resource] = /^domains\/([^/]+)\/([^/]+)\/[^/]+$/.exec(file) ?? [];
  return domain === undefined ? undefined : { domain, resource: `${domain}/${resource!}` };
}

/** The imports that run up: of a later domain. */
const importsOfLaterDomains = (all: Import[]) =>
  all.filter(({ file, to }) => {
    const [own, other] = [domainOf(file), domainOf(to)];
    return own && other && domains.indexOf(other.domain) > domains.indexOf(own.domain);
  });

test('every file of a domain is in the folder of a resource', () => {
  const ofDomains = files.filter((file) => file.startsWith('domains/'));
  expect(ofDomains.filter((file) => !domains.includes(domainOf(file)?.domain ?? ''))).toEqual([]);
});

test('a domain imports only those before it', () => expect(importsOfLaterDomains(allImports)).toEqual([]));

/** The folders that import each other, directly or by others; `toFolder` gives the folder of a file. */
function foldersInCircles(all: Import[], toFolder: (file: string) => string | undefined) {
  const imported = new Map<string, Set<string>>();
  for (const { file, to } of all) {
    const [from, target] = [toFolder(file), toFolder(to)];
    if (from === undefined || target === undefined || from === target) continue;
    imported.set(from, (imported.get(from) ?? new Set()).add(target));
  }
  const reachable = (folder: string, seen = new Set<string>()) => {
    for (const next of imported.get(folder) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      reachable(next, seen);
    }
    return seen;
  };
  return [...imported.keys()].filter((folder) => reachable(folder).has(folder)).sort();
}
const levels: [string, (file: string) => string | undefined][] = [
  ['top folders', (file) => file.split('/')[0]],
  ['domains', (file) => domainOf(file)?.domain],
  ['resources', (file) => domainOf(file)?.resource],
];

test.each(levels)('no %s import each other', (_level, toFolder) => {
  expect(foldersInCircles(allImports, toFolder)).toEqual([]);
});

test('an import that runs up, and circles of folders, are found', () => {
  const of = (from: string, to: string) => ({ file: `domains/${from}/a.ts`, to: `domains/${to}/b.ts` });
  const up = of('people/users', 'orders/orders');
  const circle = [of('orders/orders', 'orders/payments'), of('orders/payments', 'orders/credits')];
  const all = [up, ...circle, of('orders/credits', 'orders/orders'), of('orders/orders', 'courses/tags')];
  expect(importsOfLaterDomains(all)).toEqual([up]);
  const found = (extra: Import[]) => levels.map(([, toFolder]) => foldersInCircles([...all, ...extra], toFolder));
  const ofOrders = ['orders/credits', 'orders/orders', 'orders/payments'];
  expect(found([])).toEqual([[], [], ofOrders]);
  const back = [of('courses/tags', 'people/users'), { file: 'http/a.ts', to: 'domains/people/users/b.ts' }];
  const circles = found([...back, { file: 'domains/people/users/a.ts', to: 'http/b.ts' }]);
  expect(circles[0]).toEqual(['domains', 'http']);
  expect(circles[1]).toEqual(['courses', 'orders', 'people']);
});

const ofResources = files.filter((file) => file.startsWith('domains/'));

test('the server runs each job of the domains', () => {
  const exported = ofResources.flatMap((file) =>
    [...code(file).matchAll(/^export (?:const|function) (\w+Job)\b/gm)].map(([, name]) => name!),
  );
  const listed = code('jobs.ts')
    .split('domainJobs')
    .at(-1)!
    .match(/\w+Job\b/g)!;
  expect(listed.toSorted()).toEqual(exported.toSorted());
});

/** The imports of a file of a resource that its kind may not have. */
function importsOfLaterKinds(file: string, imported = imports(file)) {
  const kind = kindOf(file);
  if (kind === undefined) return [`${file}: no kind`];
  const intruding = imported.filter((to) => {
    const [folder] = to.split('/');
    if (folder === 'interfaces') return true;
    if (folder === 'http') return kind !== 'routes';
    if (folder !== 'domains') return false;
    const other = kindOf(to)!;
    if (domainOf(to)?.resource === domainOf(file)?.resource) return kinds.indexOf(other) > kinds.indexOf(kind);
    return !importable[kind]!.includes(other);
  });
  return intruding.map((to) => `${file}: ${to}`);
}

test('every file of a resource imports only what its kind may', () => {
  expect(ofResources.flatMap((file) => importsOfLaterKinds(file))).toEqual([]);
});

test('a file of a resource that imports what its kind may not is found', () => {
  const file = 'domains/courses/tags/loaders.ts';
  const [ofTags, ofUsers] = ['domains/courses/tags', 'domains/people/users'];
  const imported = [`${ofTags}/schema.ts`, `${ofTags}/service.ts`, `${ofUsers}/loaders.ts`];
  const others = [`${ofUsers}/service.ts`, 'http/auth.ts', 'lists/filters.ts'];
  expect(importsOfLaterKinds(file, [...imported, ...others])).toEqual(
    [`${ofTags}/service.ts`, `${ofUsers}/service.ts`, 'http/auth.ts'].map((to) => `${file}: ${to}`),
  );
  expect(importsOfLaterKinds(`${ofTags}/other.ts`, [])).toEqual([`${ofTags}/other.ts: no kind`]);
});

test('batch loaders are in the loaders of a resource', () => {
  const building = ofResources.filter((file) => code(file).includes('batchLoader('));
  expect(building.filter((file) => kindOf(file) !== 'loaders')).toEqual([]);
});

type Source = { file: string; text: string };
const sources = files.map((file): Source => ({ file, text: code(file) }));
const parse = ({ file, text }: Source) => ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);

const maxLines = 300;
/** The files with more lines than they may have. */
const longFiles = (all: Source[]) =>
  all
    .map(({ file, text }) => ({ file, lines: text.split('\n').length }))
    .filter(({ lines }) => lines > maxLines)
    .map(({ file, lines }) => `${file} ${lines}`);

test(`no file has more than ${maxLines} lines`, () => expect(longFiles(sources)).toEqual([]));

test('a file with too many lines is found', () => {
  const text = (lines: number) => Array.from({ length: lines }, () => 'work();').join('\n');
  const all = [
    { file: 'long.ts', text: text(maxLines + 1) },
    { file: 'short.ts', text: text(maxLines) },
  ];
  expect(longFiles(all)).toEqual([`long.ts ${maxLines + 1}`]);
});

/** The functions of more than 60 lines, without route plugins, which declare one route after another. */
function longFunctions({ file, text }: Source) {
  const source = parse({ file, text });
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
