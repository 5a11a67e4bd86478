import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const page = readFileSync('docs/reference/accessibility.md', 'utf8');
const rows = [...page.matchAll(/^\| (\d\.\d\.\d+) +\| (A|AA) +\| (met|not met) +\| (.*?) +\|$/gm)].map(
  ([, id, level, state, how]) => ({ id: id!, level, state, how: how! }),
);
const notApplicable = [...page.matchAll(/^Not applicable: ([^]*?)\n\n/gm)].flatMap(([, text]) =>
  [...text!.matchAll(/\d\.\d\.\d+/g)].map(([id]) => id),
);
/** The numbers of criteria of levels A and AA in each guideline of WCAG 2.2. */
const counts = Object.entries({
  ...{ '1.1': 1, '1.2': 5, '1.3': 5, '1.4': 9, '2.1': 3, '2.2': 2, '2.3': 1, '2.4': 8 },
  ...{ '2.5': 6, '3.1': 2, '3.2': 5, '3.3': 6, '4.1': 2 },
});

test('docs/reference/accessibility.md has every criterion of levels A and AA once', () => {
  const ids = [...rows.map(({ id }) => id), ...notApplicable];
  expect(ids.filter((id, n) => ids.indexOf(id) < n)).toEqual([]);
  expect(counts.map(([guideline]) => [guideline, ids.filter((id) => id.startsWith(`${guideline}.`)).length])).toEqual(
    counts,
  );
});

test('docs/reference/accessibility.md counts its rows', () => {
  for (const level of ['A', 'AA']) {
    const [, ...shown] = new RegExp(`^\\| ${level} +\\| (\\d+) +\\| (\\d+) +\\|`, 'm').exec(page)!;
    const found = ['met', 'not met'].map((state) => rows.filter((row) => row.level === level && row.state === state));
    expect([level, ...shown]).toEqual([level, ...found.map(({ length }) => String(length))]);
  }
});

test('docs/reference/accessibility.md names files and tests that exist', () => {
  const named = rows.flatMap(({ how }) => [...how.matchAll(/`([a-z][\w/.-]*)`/g)].map(([, name]) => name!));
  const others = ['dl', 'fieldset', 'legend', 'autocomplete', 'rem', 'lang', 'target-size'];
  const isFile = (name: string) => existsSync(name) || existsSync(`test/slow/process/${name}.test.ts`);
  expect(named.filter((name) => !others.includes(name) && !isFile(name))).toEqual([]);
});
