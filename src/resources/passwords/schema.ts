import { Type } from '@sinclair/typebox';

/** How many characters a password has that somebody chooses; what kind they are is their own affair. */
const length = { minLength: 8, maxLength: 200 };
export const Password = Type.String(length);

export function isChoosable(password: string) {
  const characters = Array.from(password).length;
  return characters >= length.minLength && characters <= length.maxLength;
}

/** A hash as an export holds it. */
export const PasswordHash = Type.String({ pattern: '^\\$argon2id\\$' });
