import { languages } from '../../core/reference/language.ts';
import type { Tx } from '../../database/client.ts';
import type { Ctx } from '../../database/context.ts';
import { bookingSettings, type MailTexts } from '../../database/tables/providers.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import {
  toBookingSettings,
  type BookingSettings,
  type BookingSettingsBody,
  type BookingSettingsRow,
} from './schema.ts';

type School = Pick<Ctx, 'providerId'>;

export async function findBookingSettings(school: School, db: Tx | Ctx['db']): Promise<BookingSettingsRow | undefined> {
  const [row] = await db.select().from(bookingSettings).where(tenantWhere(school, bookingSettings));
  return row;
}

export const getBookingSettings = async (ctx: Ctx): Promise<BookingSettings> =>
  toBookingSettings(await findBookingSettings(ctx, ctx.db));

/** A partial update, also of the switches and texts. */
export const updateBookingSettings = (ctx: Ctx, body: BookingSettingsBody): Promise<BookingSettings> =>
  ctx.write(['school'], async (tx, now) => {
    const { providerId } = ctx;
    const before = await findBookingSettings(ctx, tx);
    if (before === undefined) await tx.insert(bookingSettings).values({ providerId, createdAt: now, updatedAt: now });
    const changes = {
      selfCancellation: body.self_cancellation,
      lateCancellation: body.late_cancellation,
      language: body.language,
      mails: body.mails && withoutNull({ ...before?.mails, ...body.mails }),
      texts: body.texts && mergeTexts(before?.texts ?? {}, body.texts),
    };
    const changed = await tx.updateChanged(bookingSettings, tenantWhere(ctx, bookingSettings), changes, now);
    if (changed === 0) return tx.rollbackNoChange(toBookingSettings(before));
    tx.recordAffected(providerId);
    return toBookingSettings(await findBookingSettings(ctx, tx));
  });

/** Empty texts are none. */
function mergeTexts(before: BookingSettingsRow['texts'], sent: NonNullable<BookingSettingsBody['texts']>) {
  const merged = languages.map((language) => {
    const texts = Object.entries({ ...before[language], ...sent[language] });
    return [language, Object.fromEntries(texts.map(([name, text]) => [name, text || null])) as MailTexts];
  });
  return Object.fromEntries(merged) as BookingSettingsRow['texts'];
}

const withoutNull = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as Record<
    keyof T,
    NonNullable<T[keyof T]>
  >;
