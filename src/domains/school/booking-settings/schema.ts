import { Type, type Static } from '@sinclair/typebox';
import { languages, type Language } from '../../../core/reference/language.ts';
import { isMailOn, mailKindNames, type MailKind } from '../../../core/reference/mail-kinds.ts';
import { byName, t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { lateCancellations, type bookingSettings, type MailTexts } from '../../../database/tables/providers.ts';

const { Boolean } = Type;

export const LateCancellation = t.named('LateCancellation', t.OneOf(lateCancellations));
export const MailLanguage = t.named('MailLanguage', t.OneOf(languages));

export type BookingSettingsRow = typeof bookingSettings.$inferSelect;

export type BookingSettings = Static<typeof BookingSettings>;
export const BookingSettings = t.NamedObject(
  'BookingSettings',
  t.member.closed.all({
    self_cancellation: Boolean(),
    late_cancellation: LateCancellation,
    language: t.Nullable(MailLanguage),
    mails: t.NamedObject('MailSwitches', t.member.closed.all(byName(mailKindNames, () => Boolean()))),
    texts: t.NamedObject(
      'SchoolTexts',
      t.member.closed.all(
        byName(languages, () =>
          t.NamedObject(
            'MailTexts',
            t.member.closed.all({
              greeting: t.Nullable(Type.String()),
              footer: t.Nullable(Type.String()),
              reply_to: t.Nullable(Type.String()),
            }),
          ),
        ),
      ),
    ),
    updated_at: t.Nullable(t.DateTime),
  }),
);

export const emptyTexts: MailTexts = { greeting: null, footer: null, reply_to: null };

/** The defaults without a row. */
export const toBookingSettings = (row: BookingSettingsRow | undefined): BookingSettings => ({
  self_cancellation: row?.selfCancellation ?? false,
  late_cancellation: row?.lateCancellation ?? 'no',
  language: row?.language ?? null,
  mails: byName<MailKind, boolean>(mailKindNames, (kind) => isMailOn(kind, row?.mails ?? null)),
  texts: byName<Language, MailTexts>(languages, (language) => ({ ...emptyTexts, ...row?.texts[language] })),
  updated_at: row ? formatTimestamp(row.updatedAt) : null,
});
