import { Type } from '@sinclair/typebox';

/** Length in code points; there are no rules on the kinds of characters. */
const length = { minLength: 8, maxLength: 200 };
export const Password = Type.String(length);

export function isValidLength(password: string) {
  const characters = Array.from(password).length;
  return characters >= length.minLength && characters <= length.maxLength;
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
