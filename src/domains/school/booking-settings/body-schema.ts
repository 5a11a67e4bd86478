import { Type, type Static } from '@sinclair/typebox';
import { languages } from '../../../core/reference/language.ts';
import { mailKindNames } from '../../../core/reference/mail-kinds.ts';
import { byName, coercionKind, t } from '../../../core/schema/types.ts';
import { LateCancellation, MailLanguage } from './schema.ts';

const { Optional, Boolean } = Type;
const json = { [coercionKind]: 'json' as const };

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
  t.partialUpdate({
    self_cancellation: Optional(Boolean({ description: 'true: participants may cancel on their pages' })),
    late_cancellation: t.withDefault(
      {
        ...LateCancellation,
        description: 'After the `cancellation_days` of the location: not at all, or with fee until the start',
      },
      'no',
    ),
    language: Optional({ ...MailLanguage, description: 'Of mails; null is the language of the service' }),
    mails: Optional(
      t.NamedObject(
        'MailSwitchesInput',
        byName(mailKindNames, () => Optional(t.Nullable(Boolean()))),
        { ...json, description: 'Kinds of mails that are sent; null is the default, of one or of all' },
      ),
    ),
    texts: Optional(
      t.NamedObject(
        'SchoolTextsInput',
        byName(languages, () => Optional(t.Nullable(MailTextsBody))),
        { ...json, description: 'Plain texts in mails, by language; null is none, of one, of a language or of all' },
      ),
    ),
  }),
  { examples: [{ self_cancellation: true, late_cancellation: 'fee', mails: { reminder: true } }] },
);
