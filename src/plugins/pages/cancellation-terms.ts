import { formatDay } from '../../core/date-format.ts';
import type { CancellationTerms } from '../../domains/bookings/participant-changes/schema.ts';
import { fill } from './fill.ts';
import type { PageView } from './layout.tsx';

export type OpenTerms = Extract<CancellationTerms, { until: string }>;

export const isOpen = (terms: CancellationTerms | undefined): terms is OpenTerms =>
  terms?.kind === 'free' || terms?.kind === 'fee';

type TermsTexts = { free: string; freeThenFee: string; fee: string };

/** Describes until when a place may be canceled, and whether the school charges a fee. */
export function describeTerms({ language }: PageView, terms: OpenTerms, texts: TermsTexts) {
  const [day, time] = terms.until.split(' ') as [string, string];
  const text = terms.kind === 'fee' ? texts.fee : terms.isFeeAfterwards ? texts.freeThenFee : texts.free;
  return fill(text, `${formatDay(day, language)}, ${time}`);
}
