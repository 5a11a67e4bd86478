import { sql } from 'drizzle-orm';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { erasures } from '../../../database/tables/erasures.ts';
import type { Job } from '../../../database/periodic.ts';
import type { ServerContext } from '../../../interfaces/plugin/define-plugin.ts';
import { deliverySettings } from '../settings.ts';
import { mailFolder } from './transport.ts';

const dayMs = 86_400_000;
const namePattern = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-\d+$/;

/** Deletes the files of mails: those of erased persons, and old ones, as the outbox does. */
export function mailFilesJobs({ config, database }: Pick<ServerContext, 'config' | 'database'>): Job[] {
  const { mailsGoTo, MAIL_RETENTION_DAYS: days } = config.of(deliverySettings);
  if (mailsGoTo !== 'files') return [];
  const folder = mailFolder(config.DATA_DIR);
  let since = '-infinity';
  return [
    {
      name: 'The deletion of mails of erased persons',
      intervalMs: 10_000,
      async run() {
        const started = new Date().toISOString();
        // A mail that was in progress while its person was erased is written later, by a minute at most.
        const erased = await database.unlocked
          .select({ mails: erasures.mails })
          .from(erasures)
          .where(sql`${erasures.erasedAt} > ${since}::timestamptz - interval '1 hour'`);
        await deleteFiles(
          folder,
          erased.flatMap(({ mails }) => mails),
        );
        since = started;
      },
    },
    {
      name: 'The deletion of old mails',
      intervalMs: 3_600_000,
      async run() {
        const before = Date.now() - days * dayMs;
        const names = (await readNames(folder)).filter((name) => (toTime(name) ?? before) < before);
        await deleteFiles(folder, names);
      },
    },
  ];
}

async function deleteFiles(folder: string, names: string[]) {
  for (const name of names) if (namePattern.test(name)) await rm(join(folder, `${name}.eml`), { force: true });
}

/** None before the first mail. */
const readNames = async (folder: string) =>
  (await readdir(folder).catch(() => []))
    .filter((file) => file.endsWith('.eml'))
    .map((file) => file.slice(0, -'.eml'.length));

/** When the mail was made. */
function toTime(name: string) {
  const [, year, month, day, hour, minute, second] = namePattern.exec(name) ?? [];
  return year === undefined ? undefined : Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
