import { Type } from '@sinclair/typebox';
import { isCommonPassword } from '../../../core/common-passwords.ts';

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
