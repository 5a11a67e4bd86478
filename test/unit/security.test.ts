import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const page = readFileSync('docs/reference/security.md', 'utf8');
type Row = { id: string; level: number; isMet: boolean; where: string };
/** A section without the breaks of its lines. */
const linesOf = (section: string) => {
  const [text = ''] = page.split(`## ${section}\n`)[1]!.split('\n## ');
  return text.replaceAll(/\n +/g, ' ').split('\n');
};
const unmet = linesOf('Not met').flatMap((line): Row[] => {
  const [, id, level, where] = /^\| (\d+\.\d+\.\d+) +\| (\d) +\| (.*?) +\|$/.exec(line) ?? [];
  return id === undefined ? [] : [{ id, level: Number(level), isMet: false, where: where! }];
});
const met = linesOf('Met').flatMap((line) => {
  const [, level, text = ''] = /^- \*\*.*, level (\d)\*\*: (.*)$/.exec(line) ?? [];
  return text.split('; ').flatMap((group) => {
    const [numbers = ''] = /^[\d., ]+/.exec(group) ?? [];
    const where = group.slice(numbers.length);
    return (numbers.match(/[\d.]+/g) ?? []).map((id): Row => ({ id, level: Number(level), isMet: true, where }));
  });
});
const rows = [...met, ...unmet];

/** The numbers of requirements of levels 1 and 2 in the chapters 1 to 17 of ASVS 5.0.0. */
const counts = [
  ...[
    [8, 19],
    [4, 7],
    [8, 11],
    [2, 8],
    [4, 5],
    [13, 22],
    [6, 12],
    [4, 3],
    [4, 3],
  ],
  ...[
    [5, 24],
    [3, 11],
    [3, 6],
    [1, 12],
    [2, 7],
    [3, 10],
    [0, 16],
    [0, 7],
  ],
];

/** The ids below "Not applicable", ranges expanded within a section; the last ones are ranges of whole chapters. */
const notApplicable = linesOf('Not applicable')
  .filter((line) => !line.startsWith('- **Chapters'))
  .flatMap((text) =>
    [...text.matchAll(/(\d+\.\d+)\.(\d+)(?: to \d+\.\d+\.(\d+))?/g)].flatMap(([, section, first, last]) =>
      Array.from({ length: Number(last ?? first) - Number(first) + 1 }, (_, n) => `${section}.${Number(first) + n}`),
    ),
  );

test('each requirement of levels 1 and 2 stands on the page once', () => {
  const ids = [...rows.map(({ id }) => id), ...notApplicable];
  expect(ids.filter((id, n) => ids.indexOf(id) < n)).toEqual([]);
  const whole = [9, 10, 17];
  for (const [index, [first, second]] of counts.entries()) {
    const chapter = index + 1;
    const listed = ids.filter((id) => id.startsWith(`${chapter}.`)).length;
    expect(listed, `chapter ${chapter}`).toBe(whole.includes(chapter) ? 0 : first! + second!);
  }
});

test('at least 95 percent of the requirements of level 1 that apply are met', () => {
  const first = rows.filter(({ level }) => level === 1);
  const metOfFirst = first.filter(({ isMet }) => isMet).length;
  expect(first.length).toBeGreaterThan(50);
  expect(metOfFirst / first.length).toBeGreaterThan(0.95);
  const second = rows.filter(({ level }) => level === 2);
  const metOfSecond = second.filter(({ isMet }) => isMet).length;
  expect(page.replaceAll(/ +/g, ' ')).toContain(
    `| 1 | ${metOfFirst} | ${first.length - metOfFirst} | ${70 - first.length} |`,
  );
  expect(page.replaceAll(/ +/g, ' ')).toContain(`| 2 | ${metOfSecond} | ${second.length - metOfSecond} |`);
});

test('the files on the page exist', () => {
  const paths = [...page.matchAll(/`([\w./-]+\.(?:tsx?|js|json))`/g)].map(([, path]) => path!);
  expect(paths.length).toBeGreaterThan(80);
  const exists = (path: string) => ['', 'test/api/', 'test/'].some((folder) => existsSync(`${folder}${path}`));
  expect(paths.filter((path) => !exists(path))).toEqual([]);
});

test('each requirement that is met names a file or a section', () => {
  const unnamed = met.filter(({ where }) => !/`[\w./-]+\.(tsx?|js|json|yml|sh)`|\]\(/.test(where));
  expect(unnamed.map(({ id, where }) => `${id}: ${where}`)).toEqual([]);
});
