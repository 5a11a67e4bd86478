import { and, desc, eq, gt, isNull, sql } from 'drizzle-orm';
import type { Reader } from '../../../database/client.ts';
import { bookings } from '../../../database/tables/orders.ts';
import { outbox, refusedAddresses } from '../../../database/tables/outbox.ts';
import { participants } from '../../../database/tables/participants.ts';
import { webhooks } from '../../../database/tables/webhooks.ts';
import { tokenUrl } from '../../../domains/school/auth/schema.ts';
import { createMailToken } from '../../../domains/school/auth/token-service.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { composeLetter, letterTexts } from './letter.tsx';
import { addressMail, joinLines, type Prepare, type StoredMail } from './mails.ts';

/** Sends a new member of the staff, or a course user, a link to choose a password. */
export const accounts =
  (kind: 'invitation' | 'account_created'): Prepare =>
  async ({ database, settings }, stored) => {
    const language = await loadLatestLanguage(database.unlocked, stored);
    const mail = addressMail(stored, { language }, settings);
    return {
      mail,
      async write() {
        const token = await createMailToken(database.unlocked, 'password', mail, mail.id);
        if (token === undefined) return { outdated: 'its link has ended in the meantime' };
        const { letters, passwordLink } = letterTexts[mail.language];
        const button = { ...passwordLink(mail.school), href: tokenUrl(settings, 'password', token) };
        return { letter: composeLetter(mail, letters[kind](mail), { button }), token };
      },
    };
  };

/** The language of the last booking of a course user. */
async function loadLatestLanguage(db: Reader, { providerId, userId }: StoredMail) {
  const [found] = await db
    .select({ language: bookings.language })
    .from(participants)
    .innerJoin(bookings, sameTenant(bookings, participants, eq(bookings.id, participants.bookingId)))
    .where(tenantWhere({ providerId }, participants, sql`${participants.userId} = ${userId}`))
    .orderBy(desc(participants.id))
    .limit(1);
  return found?.language;
}

/** Tells the school, or its administrators, of a webhook that the server has switched off. */
export const prepareDisabledWebhook: Prepare = async ({ database, settings }, stored) => {
  const { providerId, webhookId } = stored;
  const [found] = await database.unlocked
    .select({ host: webhooks.host, reason: webhooks.disabledReason })
    .from(webhooks)
    .where(tenantWhere({ providerId }, webhooks, sql`${webhooks.id} = ${webhookId}`));
  const { host, reason = null } = found ? joinLines(found) : {};
  if (!host || reason === null) return { outdated: 'its webhook is active again or was deleted' };
  const mail = addressMail(stored, { isSchool: true }, settings);
  const opening = letterTexts[mail.language].letters.webhook_disabled({ host, reason });
  return { mail, write: async () => ({ letter: composeLetter(mail, opening) }) };
};

/** Tells the school of an address that a mail server has refused. */
export const prepareRefusedAddress: Prepare = async ({ database: { unlocked }, settings }, stored) => {
  const { providerId, id, refusedAddressId } = stored;
  const isOfAddress = sql`${outbox.refusedAddressId} = ${refusedAddressId}`;
  const isLater = tenantWhere({ providerId }, outbox, isOfAddress, gt(outbox.id, id), isNull(outbox.failedAt));
  if ((await unlocked.$count(outbox, isLater)) > 0) return { outdated: 'a later mail tells of its address' };
  const { email, reason, subject: ofMail } = refusedAddresses;
  const isRefused = and(sql`${refusedAddresses.id} = ${refusedAddressId}`, isNull(refusedAddresses.liftedAt));
  const [refused] = await unlocked
    .select({ email, reason, subject: ofMail })
    .from(refusedAddresses)
    .where(tenantWhere({ providerId }, refusedAddresses, isRefused));
  if (!refused) return { outdated: 'its address is tried again in the meantime' };
  const mail = addressMail(stored, { isSchool: true }, settings);
  const opening = letterTexts[mail.language].letters.address_refused(joinLines(refused));
  return { mail, write: async () => ({ letter: composeLetter(mail, opening) }) };
};
