import { execute, type Queryable } from '../../../../database/statements.ts';
import type { ClaimedMail } from '../endings.ts';
import type { Letter } from '../letter.tsx';
import { joinLines, type MailData } from '../mail-data.ts';
import { collectDigest } from './digest.ts';
import { composeDigest, composeNotice, maxListed, outdatedNotice, type Notice } from './letters.ts';
import { findNotices } from './query.ts';

const loadNotices = async (on: Queryable, providerId: number, ids: number[]) =>
  joinLines(await execute<Notice>(on, findNotices, [providerId, ids])) as Notice[];

/**
 * The letter of a notice, or of a digest with it; else why there is none. `name` is that of the message id: another one
 * for other notices, since mail programs hide a second message of one id.
 */
export async function prepareNotice(
  on: Queryable,
  claimed: ClaimedMail,
  mail: MailData,
  timezone: string,
): Promise<{ letter: Letter; name?: string } | { outdated: string } | 'waits'> {
  const { providerId, id } = claimed;
  const [notice] = await loadNotices(on, providerId, [id]);
  const outdated = notice ? outdatedNotice(notice) : 'it was deleted';
  if (outdated !== null) return { outdated };
  const digest = await collectDigest(on, claimed);
  if (digest === undefined) return 'waits';
  if (digest.length === 0) return { letter: composeNotice(mail, notice!, timezone) };
  // Kept with the mail, so that an error puts all of them off.
  claimed.digest = digest;
  const ids = [id, ...digest.map((one) => one.id)].sort((a, b) => a - b);
  const listed = (await loadNotices(on, providerId, ids.slice(0, maxListed))).filter((one) => !outdatedNotice(one));
  const letter = composeDigest(mail, listed, ids.length, timezone);
  return { letter, name: `${mail.createdAt}-${ids[0]}-${ids.at(-1)}-${ids.length}` };
}
