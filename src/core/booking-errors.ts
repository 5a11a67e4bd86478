import { bookingMessages } from './error-codes.ts';
import { type CodedError, itemAt, Problem } from './errors.ts';

export type BookingCode = keyof typeof bookingMessages;

export const bookingError = (code: BookingCode): CodedError => ({ code, message: bookingMessages[code] });

export const placesError: CodedError = {
  code: 'participant_count_invalid',
  message: 'There must be 1 to 200 places, without participants',
};

/** `index` counts from 0, the message from 1. */
export const participantError = (index: number, code: BookingCode): CodedError => ({
  code,
  message: `${participantLabel(index)}: ${bookingMessages[code]}`,
});

export const fieldError = (field: string, index?: number): CodedError => ({
  code: 'field_invalid',
  field: index === undefined ? field : `participants[${index}].${field}`,
  message: index === undefined ? `${field} is not valid` : `${participantLabel(index)}: ${field} is not valid`,
});

const participantLabel = (index: number) => `Participant ${index + 1}`;

/** The error of a rejected booking, with each error once. */
export function bookingProblem(errors: CodedError[]) {
  const toKey = ({ code, message, participantId }: CodedError) => `${code} ${participantId} ${message}`;
  const unique = [...new Map(errors.map((one) => [toKey(one), one])).values()];
  const listFields = (missing: boolean) => [
    ...new Set(errors.flatMap(({ field, isMissing = false }) => (isMissing === missing ? (field ?? []) : []))),
  ];
  const unknown = errors.flatMap((one) => one.unknown ?? []);
  const fields = { missing: listFields(true), notValid: listFields(false), unknown };
  return new Problem('invalid', itemAt(unique).message, { errors: unique, ...fields });
}
