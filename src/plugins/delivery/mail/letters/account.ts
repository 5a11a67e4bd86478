import type { Letters } from './letters.ts';

/** About an account at the school. */
export const accountLetters: Letters = {
  invitation: ({ school, username }, texts) => texts.invitation(school, username),
  account_created: ({ school, username }, texts) => texts.accountCreated(school, username),
};
