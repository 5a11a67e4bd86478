import type { BookingQuote } from '../../../../../domains/bookings/booking/quote-service.ts';
import type { CancellationTerms } from '../../../../../domains/bookings/participant-changes/schema.ts';
import type { FormError } from '../../booking/errors.ts';
import type { BookingForm, FieldUses } from '../../booking/form.ts';
import type { CatalogDate } from '../../dates/model.ts';
import type { View } from '../../view.ts';

/** The part of the form that was asked for. */
export type Focus = 'person' | 'price' | undefined;

export type FormProps = {
  view: View;
  date: CatalogDate;
  form: BookingForm;
  uses: FieldUses;
  /** Undefined if the date cannot be booked so. */
  quote: BookingQuote | undefined;
  /** Undefined where the school has not allowed cancellations. */
  terms: CancellationTerms | undefined;
  errors: FormError[];
  focus: Focus;
};

export const findError = ({ errors }: Pick<FormProps, 'errors'>, wanted: string) =>
  errors.find(({ name }) => name === wanted)?.text;
