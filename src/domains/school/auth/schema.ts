import { Type, type Static } from '@sinclair/typebox';
import { isCommonPassword } from '../../../core/common-passwords.ts';
import { keyProfiles } from '../../../core/api-key.ts';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import type { Settings } from '../../../core/settings.ts';

export type Purpose = 'sign_in' | 'password';

/** A course user or an admin user. */
export type TokenOwner = { providerId: number; userId: number | null; adminUserId: number | null };

export const lifetimes: Record<Purpose, string> = { sign_in: '15 minutes', password: '7 days' };

export const tokenUrl = ({ publicUrl }: Pick<Settings, 'publicUrl'>, purpose: Purpose, token: string) =>
  `${publicUrl}/my/${purpose === 'sign_in' ? 'sign-in' : 'password'}/${token}`;

const name = Type.Optional(t.Nullable(Type.String()));

/** Only `valid` if false, so that the response does not reveal whether the user exists. */
export type SignOnResult = Static<typeof SignOnResult>;
export const SignOnResult = t.NamedObject(
  'SignOnResult',
  t.member.personal.all({
    valid: Type.Boolean(),
    user_id: Type.Optional(Type.Integer()),
    firstname: name,
    lastname: name,
    email: name,
    login_url: Type.Optional(
      Type.String({ description: "Opens the user's own page; valid once, for 15 minutes", format: 'uri' }),
    ),
  }),
);

const text = Type.String();

/** GET /v2/whoami. */
export type WhoAmI = Static<typeof WhoAmI>;
export const WhoAmI = t.NamedObject(
  'WhoAmI',
  t.member.open.all({
    provider: t.NamedObject('KeyProvider', t.member.open.all({ id: Type.Integer(), title: text })),
    key: t.NamedObject('WhoAmIKey', {
      id: t.member.open(Type.Integer()),
      label: t.member.closed(Type.String({ description: 'Not with a publishable key' })),
      ...t.member.open.all({
        profile: t.OneOf(keyProfiles, { description: codes.list(keyProfiles) }),
        expires_at: t.Nullable(t.DateTime),
      }),
    }),
    rate_limit: t.Nullable(
      t.NamedObject('RateLimit', t.member.open.all({ per_second: Type.Number(), burst: Type.Integer() }), {
        description: 'Requests per second of the school, and at once; null without a limit',
      }),
    ),
    timezone: Type.String({ description: 'The time zone of the service, in which times without an offset are' }),
    server_time: t.DateTime,
    version: Type.String({ description: 'The version of the interface, as in the OpenAPI document' }),
  }),
);

/** Length in code points; there are no rules on the kinds of characters. */
const length = { minLength: 8, maxLength: 200 };
export const Password = Type.String(length);

export type PasswordFault = 'length' | 'common' | 'names';

/** `names` are those of the school and the person, and the person's username and e-mail address. */
export function findPasswordFault(password: string, names: readonly unknown[]): PasswordFault | undefined {
  const characters = Array.from(password).length;
  if (characters < length.minLength || characters > length.maxLength) return 'length';
  if (isCommonPassword(password)) return 'common';
  return isMadeOfNames(password, names) ? 'names' : undefined;
}

const toWords = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);

/** True if nothing but digits and punctuation is left of the password without the names and their words. */
function isMadeOfNames(password: string, names: readonly unknown[]) {
  const words = names.filter((name) => typeof name === 'string').map(toWords);
  const removable = [...new Set([...words.map((parts) => parts.join('')), ...words.flat()])]
    .filter((word) => word.length >= 3)
    .sort((a, b) => b.length - a.length);
  const whole = toWords(password).join('');
  const rest = removable.reduce((text, word) => text.replaceAll(word, ' '), whole);
  return rest !== whole && !/\p{L}/u.test(rest);
}

/** Base64 of the PHC string format: unpadded, with the unused bits zero. */
const base64 = '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048])?';
/** 1,000 to 65,536 KiB with at most four passes, or to 109,999 KiB with two: a costlier check exceeds `failureMs`. */
const upTo65536 = '[1-9]\\d{3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-6]';
const cost = `m=(?:(?:${upTo65536}),t=[1-4]|(?:[1-9]\\d{4}|10\\d{4}),t=[12]),p=[1-8]`;
/** 8 to 48 and 16 to 64 bytes. */
const [salt, digest] = [`(?=[^$]{11,64}\\$)${base64}`, `(?=.{22,86}$)${base64}`];

/** An importable argon2id hash in the PHC string format, with a bounded cost. */
export const PasswordHash = Type.String({
  pattern: `^\\$argon2id\\$v=19\\$${cost}\\$${salt}\\$${digest}$`,
});
