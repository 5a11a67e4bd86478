import { languages } from '../../../core/reference/language.ts';
import { mailKindNames, mailKinds, type MailSwitches } from '../../../core/reference/mail-kinds.ts';
import type { Tx } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
import { bookingSettings } from '../../../database/tables/providers.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import type { BookingSettingsBody } from './body-schema.ts';
import { emptyTexts, toBookingSettings, type BookingSettings, type BookingSettingsRow } from './schema.ts';

type School = Pick<Ctx, 'providerId'>;

export async function findBookingSettings(school: School, db: Tx | Ctx['db']): Promise<BookingSettingsRow | undefined> {
  const [row] = await db.select().from(bookingSettings).where(tenantWhere(school, bookingSettings));
  return row;
}

export const getBookingSettings = async (ctx: Ctx): Promise<BookingSettings> =>
  toBookingSettings(await findBookingSettings(ctx, ctx.db));

/** A partial update, also of the switches and texts. */
export const updateBookingSettings = (ctx: Ctx, body: BookingSettingsBody): Promise<BookingSettings> =>
  ctx.write(['school'], async ({ tx, now }) => {
    const { providerId } = ctx;
    const before = await findBookingSettings(ctx, tx);
    if (before === undefined) await tx.insert(bookingSettings).values({ providerId, createdAt: now, updatedAt: now });
    const changes = {
      selfCancellation: body.self_cancellation,
      lateCancellation: body.late_cancellation,
      language: body.language,
      mails: body.mails === undefined ? undefined : mergeSwitches(before?.mails, body.mails),
      texts: body.texts === undefined ? undefined : mergeTexts(before?.texts, body.texts),
    };
    const changed = await tx.updateChanged(bookingSettings, tenantWhere(ctx, bookingSettings), changes, now);
    if (changed === 0) return tx.rollBack(toBookingSettings(before));
    return toBookingSettings(await findBookingSettings(ctx, tx));
  });

/** Only those that differ from their defaults are stored. */
function mergeSwitches(before: MailSwitches | undefined, sent: BookingSettingsBody['mails']): MailSwitches {
  const merged = sent === null ? {} : { ...before, ...sent };
  const isStored = (kind: keyof MailSwitches) => merged[kind] != null && merged[kind] !== mailKinds[kind];
  return Object.fromEntries(mailKindNames.filter(isStored).map((kind) => [kind, merged[kind]]));
}

/** Blank texts are none, and a language without texts is not stored. */
function mergeTexts(before: BookingSettingsRow['texts'] | undefined, sent: BookingSettingsBody['texts']) {
  const merged = languages.map((language) => {
    const isCleared = sent === null || sent?.[language] === null;
    const { greeting, footer, reply_to } = isCleared ? emptyTexts : { ...before?.[language], ...sent?.[language] };
    return [language, { greeting: orNull(greeting), footer: orNull(footer), reply_to: orNull(reply_to) }] as const;
  });
  return Object.fromEntries(merged.filter(([, texts]) => Object.values(texts).some((text) => text !== null)));
}

const orNull = (text: string | null | undefined) => (text?.trim() ? text : null);
