import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/core/config.ts';
import {
  countErasedSince,
  erasuresJobs,
  erasuresName,
  readErasures,
  readLines,
} from '../../src/plugins/backup/erasures.ts';
import { queryBuilderOn } from '../../src/database/reader.ts';
import { mailFilesJobs } from '../../src/plugins/delivery/mail/transport.ts';
import { plugins } from '../../src/plugins.ts';
import { temporaryFolder } from '../support/processes.ts';

const erasure = (user: number) => ({
  ...{ provider: 1, created_at: '2026-03-01T10:00:00.000001Z', erased_at: '2026-11-28T10:00:00.000001Z', user },
});
/** A database with these rows, whatever the query. */
const databaseWith = (rows: object[]) => {
  const pool = { query: async () => Promise.resolve({ rows }) } as never;
  return { pool, unlocked: queryBuilderOn(pool) } as never;
};
const settings = (folder: string, more: object = {}) =>
  readConfig(
    {
      DATA_DIR: folder,
      BACKUP_DIR: folder,
      DATABASE_URL: 'postgres://a@b/c',
      BACKUP_AT: '03:15',
      MAIL_TO_FILES: 'true',
      ...more,
    },
    plugins,
  );
const warnings: string[] = [];
const log = { warn: (text: string) => void warnings.push(text) } as never;
const run = async (jobs: { run(signal: AbortSignal): Promise<void> }[]) => {
  for (const job of jobs) await job.run(new AbortController().signal);
};

test('each erasure is a line of the list once, also after a line that a crash has cut short', async () => {
  const folder = temporaryFolder();
  const config = settings(folder);
  const file = join(folder, erasuresName);
  expect(await readErasures(file)).toBeUndefined();
  await run(erasuresJobs({ config, log, database: databaseWith([erasure(1)]) }));
  appendFileSync(file, JSON.stringify(erasure(2)).slice(0, 40));
  const jobs = erasuresJobs({ config, log, database: databaseWith([erasure(1), erasure(2)]) });
  await run(jobs);
  await run(jobs);
  expect(await readErasures(file)).toEqual([erasure(1), erasure(2)]);
  expect(readFileSync(file, 'utf8').match(/"user":1\}/g)).toHaveLength(1);
});

test.each(['off', 'elsewhere', '03:15'])('a server with BACKUP_AT=%s writes the list', async (BACKUP_AT) => {
  const folder = temporaryFolder();
  const file = join(folder, erasuresName);
  const config = settings(folder, { BACKUP_AT });
  await run(erasuresJobs({ config, log, database: databaseWith([]) }));
  // One that makes backups makes an empty list too.
  expect(await readErasures(file)).toEqual(BACKUP_AT === '03:15' ? [] : undefined);
  await run(erasuresJobs({ config, log, database: databaseWith([erasure(1)]) }));
  expect(await readErasures(file)).toEqual([erasure(1)]);
});

test('a folder that cannot be written is reported once, and the list is written when it can be', async () => {
  const folder = temporaryFolder();
  const target = join(folder, 'backups');
  writeFileSync(target, 'no folder');
  const config = settings(folder, { BACKUP_DIR: target });
  const jobs = erasuresJobs({ config, log, database: databaseWith([erasure(1)]) });
  warnings.length = 0;
  for (let n = 0; n < 3; n += 1) await run(jobs);
  expect(warnings).toEqual([expect.stringMatching(/^The list of erasures failed: /)]);
  rmSync(target);
  await run(jobs);
  expect(await readErasures(join(target, erasuresName))).toEqual([erasure(1)]);
});

test('a database of an older version has no erasures', async () => {
  const query = async () => Promise.reject(Object.assign(new Error('relation does not exist'), { code: '42P01' }));
  expect(await readLines({ pool: { query } as never })).toEqual([]);
});

test('a list that is deleted is written again as a whole', async () => {
  const folder = temporaryFolder();
  const file = join(folder, erasuresName);
  const rows = [erasure(1), { ...erasure(2), erased_at: '2026-12-28T10:00:00.000001Z' }];
  const since: unknown[] = [];
  const query = async (_text: string, [time]: [string]) => {
    since.push(time);
    return Promise.resolve({ rows: rows.filter(({ erased_at }) => time === '-infinity' || erased_at >= time) });
  };
  const jobs = erasuresJobs({ config: settings(folder), log, database: { pool: { query } } as never });
  await run(jobs);
  await run(jobs);
  rmSync(file);
  await run(jobs);
  expect(await readErasures(file)).toEqual(rows);
  expect(since).toEqual(['-infinity', rows[1]!.erased_at, '-infinity']);
});

test('a line that is cut short is reported unless the same erasure follows, and the others are read', async () => {
  const file = join(temporaryFolder(), erasuresName);
  const [first, second, third] = [1, 2, 3].map((user) => JSON.stringify(erasure(user)));
  const cut = third!.slice(0, -1);
  const read = async (lines: string[]) => {
    writeFileSync(file, lines.join('\n'));
    const warnings: string[] = [];
    return { list: await readErasures(file, (text) => warnings.push(text)), warnings };
  };
  const list = [erasure(1), erasure(2)];
  const warnings = [`Line 3 of ${file} is cut short: its erasure is not applied`];
  expect(await read([first!, second!, cut])).toEqual({ list, warnings });
  expect(await read([first!, '', cut, second!, ''])).toEqual({ list, warnings });
  expect(await read([first!, second!, cut, third!])).toEqual({ list: [...list, erasure(3)], warnings: [] });
});

test('a list may have the line ends of another system', async () => {
  const file = join(temporaryFolder(), erasuresName);
  writeFileSync(file, [1, 2].map((user) => `${JSON.stringify(erasure(user))}\r\n`).join(''));
  expect(await readErasures(file)).toEqual([erasure(1), erasure(2)]);
});

test('each person whom a backup has counts once, those created or erased at another time do not', () => {
  const [before, after] = ['2026-06-01T10:00:00.000001Z', '2026-12-01T10:00:00.000001Z'];
  const list = [
    ...[erasure(1), { ...erasure(1), erased_at: after }],
    ...[erasure(2), { ...erasure(3), created_at: after }, { ...erasure(4), erased_at: before }],
  ];
  expect(countErasedSince(list, '2026-07-01T10:00:00.000000Z')).toBe(2);
});

test.each(['{"provider":1}', '{"provider":"1","created_at":"now","erased_at":"now"}', '{not JSON}'])(
  'a list with another line is refused: %s',
  async (line) => {
    const file = join(temporaryFolder(), erasuresName);
    writeFileSync(file, `${JSON.stringify(erasure(1))}\n${line}\n`);
    await expect(readErasures(file)).rejects.toThrow(`Line 2 of ${file} is no erasure`);
  },
);

test('the files of mails of erased persons and old ones are deleted, and no others', async () => {
  const folder = temporaryFolder();
  const mails = join(folder, 'mail');
  mkdirSync(mails);
  const now = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const files = [`${now}-1.eml`, `${now}-2.eml`, '20200101T000000Z-3.eml', 'notes.eml', '../kept.eml'];
  for (const file of files) writeFileSync(join(mails, file), '');
  const database = databaseWith([[[`${now}-1`, '../kept']]]);
  await run(mailFilesJobs({ config: settings(folder), database }));
  expect(files.filter((file) => existsSync(join(mails, file)))).toEqual([`${now}-2.eml`, 'notes.eml', '../kept.eml']);
});
