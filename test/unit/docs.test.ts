import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';
import { eventTypes } from '../../src/database/record-events.ts';
import { plugins } from '../../src/plugins.ts';
import { docsPages, pageName } from '../support/docs-pages.ts';

const pages = ['README.md', ...docsPages];
const contents = new Map(pages.map((page) => [page, readFileSync(page, 'utf8')]));
const withoutCode = (text: string) => text.replaceAll(/^```[^]*?^```$/gm, '');

/** Anchors as GitHub derives them from headings. */
const anchorsOf = (page: string) =>
  [...withoutCode(contents.get(page)!).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );

test.each(pages)('%s has no line over 120 characters', (page) => {
  const long = contents
    .get(page)!
    .split('\n')
    .filter((line) => line.length > 120);
  expect(long).toEqual([]);
});

test.each(pages)('every relative link of %s leads to a page and a heading', (page) => {
  const links = [...withoutCode(contents.get(page)!).matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm)]
    .map(([, link, definition]) => link ?? definition!)
    .filter((link) => !/^https?:/.test(link));
  const broken = links.filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (anchor === undefined) return !existsSync(target);
    return !contents.has(target) || !anchorsOf(target).includes(anchor);
  });
  expect(broken).toEqual([]);
});

test.each(pages)('the headings of %s are unique', (page) => {
  const anchors = anchorsOf(page);
  expect(anchors.filter((one, n) => anchors.indexOf(one) < n && page !== 'docs/CHANGELOG.md')).toEqual([]);
});

test('docs/README.md lists every page', () => {
  const index = contents.get('docs/README.md')!;
  const isListed = (page: string) => index.includes(`](${relative('docs', page)})`);
  expect(docsPages.filter((page) => page !== 'docs/README.md' && !isListed(page))).toEqual([]);
});

test('each page is declared by one plugin', () => {
  const declared = plugins.flatMap(({ docs }) => docs.pages);
  const served = docsPages.map(pageName).filter((name) => name !== 'README');
  expect(declared.toSorted()).toEqual(served.toSorted());
});

test('the names of pages are unique, since their addresses have no folder', () => {
  const names = docsPages.map(pageName);
  expect(names.filter((name, n) => names.indexOf(name) < n)).toEqual([]);
});

/** The beginning of a page, by its folder. */
const kinds: Record<string, RegExp> = {
  'docs/tutorial': /^Tutorial for /,
  'docs/guides': /^How-to guide for (client developers|developers of clients)\b/,
  'docs/operate': /^How-to guide for operators\b/,
  'docs/reference': /^Reference for /,
  'docs/explain': /^Explanation for /,
  docs: /^(Index of|Reference for) /,
};

test('each page of docs states the kind of its folder first', () => {
  const beginning = (page: string) => contents.get(page)!.replace(/^# .+\n\n/, '');
  expect(docsPages.filter((page) => !kinds[dirname(page)]?.test(beginning(page)))).toEqual([]);
});

test('the README has at most 110 lines', () => {
  expect(contents.get('README.md')!.trimEnd().split('\n').length).toBeLessThanOrEqual(110);
});

test('the pages of docs repeat no paragraph', () => {
  const beginnings = pages.flatMap((page) =>
    withoutCode(contents.get(page)!)
      .split('\n')
      .filter((line) => line.length > 60 && !/^\|[ -|]*\|$/.test(line) && !/^[- ]*`/.test(line))
      .map((line) => line.replaceAll(/ +/g, ' ').slice(0, 60)),
  );
  expect(beginnings.filter((one, n) => beginnings.indexOf(one) < n)).toEqual([]);
});

test('the command for typed clients names the version of the generator that the tests use', () => {
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const named = [...contents.get('docs/guides/typed-clients.md')!.matchAll(/@hey-api\/openapi-ts@(\S+)/g)];
  expect(named.map(([, version]) => version)).toEqual([devDependencies['@hey-api/openapi-ts']]);
});

test('the changelog has its versions with dates, the latest first, and names that of the package', () => {
  const changelog = contents.get('docs/CHANGELOG.md')!;
  const [unreleased, ...versions] = [...changelog.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading!);
  expect(unreleased).toBe('[Unreleased]');
  const parsed = versions.map((heading) => /^\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$/.exec(heading)?.slice(1));
  expect(parsed).not.toContain(undefined);
  const dates = parsed.map((version) => version![1]!);
  expect(dates).toEqual(dates.toSorted().toReversed());
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  // Between two releases the version is the next one's.
  const [latest, [major, minor]] = [parsed[0]![0]!, parsed[0]![0]!.split('.').map(Number) as [number, number]];
  expect([latest, `${major}.${minor + 1}.0-dev`]).toContain(version);
});

test('the changelog groups changes by their kind', () => {
  const kinds = [...contents.get('docs/CHANGELOG.md')!.matchAll(/^### (.*)$/gm)].map(([, kind]) => kind!);
  const known = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
  expect(kinds.filter((kind) => !known.includes(kind))).toEqual([]);
});

test('docs/guides/webhooks.md names every type of change', () => {
  const page = contents.get('docs/guides/webhooks.md')!;
  const isNamed = (type: string) => {
    const [resource, change = ''] = type.split('.');
    return page.includes(`\`${['created', 'updated', 'deleted'].includes(change) ? resource! : type}\``);
  };
  expect(eventTypes.filter((type) => !isNamed(type))).toEqual([]);
});
