import type { Letters } from './letters.ts';

/** To those who are interested in a course. */
export const interestLetters: Letters = {
  interest_confirmation: ({ school, title }, texts) => texts.interestConfirmation(school, title),
  date_published: ({ school, title }, texts) => texts.datePublished(school, title),
};
