import { Type, type Static } from '@sinclair/typebox';
import { languages, type Language } from '../../core/reference/language.ts';
import { isMailOn, mailKindNames, type MailKind } from '../../core/reference/mail-kinds.ts';
import { coercionKind, t } from '../../core/schema/types.ts';
import { formatTimestamp } from '../../core/timestamps.ts';
import { lateCancellations, type bookingSettings, type MailTexts } from '../../database/tables/providers.ts';

const { Optional, Boolean } = Type;
const json = { [coercionKind]: 'json' as const };

const byName = <K extends string, V>(names: readonly K[], toValue: (name: K) => V) =>
  Object.fromEntries(names.map((name) => [name, toValue(name)])) as Record<K, V>;

export type BookingSettingsRow = typeof bookingSettings.$inferSelect;

export type BookingSettings = Static<typeof BookingSettings>;
export const BookingSettings = t.NamedObject(
  'BookingSettings',
  t.member.closed.all({
    self_cancellation: Boolean(),
    late_cancellation: t.OneOf(lateCancellations),
    language: t.Nullable(t.OneOf(languages)),
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

const emptyTexts: MailTexts = { greeting: null, footer: null, reply_to: null };

/** The defaults without a row. */
export const toBookingSettings = (row: BookingSettingsRow | undefined): BookingSettings => ({
  self_cancellation: row?.selfCancellation ?? false,
  late_cancellation: row?.lateCancellation ?? 'no',
  language: row?.language ?? null,
  mails: byName<MailKind, boolean>(mailKindNames, (kind) => isMailOn(kind, row?.mails ?? null)),
  texts: byName<Language, MailTexts>(languages, (language) => ({ ...emptyTexts, ...row?.texts[language] })),
  updated_at: row ? formatTimestamp(row.updatedAt) : null,
});

const MailTextsBody = t.NamedObject(
  'MailTextsInput',
  {
    greeting: Optional(t.Nullable(t.Line({ description: 'Begins a mail, instead of "Hello" and the name' }))),
    footer: Optional(t.Nullable({ ...t.Note({ maxLength: 2_000 }), description: 'Lines at the end of a mail' })),
    reply_to: Optional(t.Nullable({ ...t.Email(), description: 'Where answers go, instead of the school' })),
  },
  json,
);

/** PUT /v2/booking-settings. */
export type BookingSettingsBody = Static<typeof BookingSettingsBody>;
export const BookingSettingsBody = t.NamedObject(
  'BookingSettingsUpdate',
  {
    self_cancellation: Optional(Boolean({ description: 'true: participants may cancel on their pages' })),
    late_cancellation: Optional({
      ...t.OneOf(lateCancellations),
      description: 'After the `cancellation_days` of the location: not at all, or with fee until the start',
    }),
    language: Optional(
      t.Nullable({ ...t.OneOf(languages), description: 'Of mails; null is the language of the service' }),
    ),
    mails: Optional(
      t.NamedObject(
        'MailSwitchesInput',
        byName(mailKindNames, () => Optional(t.Nullable(Boolean()))),
        { ...json, description: 'Kinds of mails that are sent; null is the default' },
      ),
    ),
    texts: Optional(
      t.NamedObject(
        'SchoolTextsInput',
        byName(languages, () => Optional(MailTextsBody)),
        { ...json, description: 'Plain texts in mails, by language' },
      ),
    ),
  },
  { examples: [{ self_cancellation: true, late_cancellation: 'fee', mails: { reminder: true } }] },
);
