import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
type Dictionary = { dictionary: { 'passwords-common': string[] } };

/** Shorter ones are refused for their length. */
const minLength = 8;
const count = 10_000;

let known: Set<string> | undefined;

/** Loaded with the first password, to save memory. The list is in lower case, the most common first. */
function loadCommonPasswords() {
  const { dictionary } = require('@zxcvbn-ts/language-common') as Dictionary;
  const longEnough = dictionary['passwords-common'].filter((password) => password.length >= minLength);
  return new Set(longEnough.slice(0, count));
}

/** True for one of the 10,000 most common passwords of 8 characters or more, in any case. */
export const isCommonPassword = (password: string) =>
  (known ??= loadCommonPasswords()).has(password.normalize('NFKC').toLowerCase());
