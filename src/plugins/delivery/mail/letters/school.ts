import type { Letters } from './letters.ts';

/** To the school, besides its notices. */
export const schoolLetters: Letters = {
  // `outdatedReason` has excluded a webhook that is active.
  webhook_disabled: ({ disabledReason, webhookHost }, texts) => texts.webhookDisabled(disabledReason!, webhookHost!),
  address_refused: ({ refusedEmail, refusalReason, refusedSubject }, texts) =>
    texts.addressRefused(refusedEmail!, refusalReason!, refusedSubject),
};
