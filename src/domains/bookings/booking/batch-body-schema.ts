import { Type, type Static, type TProperties } from '@sinclair/typebox';
import type { CodedError } from '../../../core/errors.ts';
import { invalid } from '../../../core/schema/coercion.ts';
import { dryRun } from '../../../core/schema/dry-run.ts';
import { emptyValue, t } from '../../../core/schema/types.ts';
import { grouped } from '../../../lists/relations.ts';
import { BookingBody, collectValidationErrors, type BookingInput, type ValidationError } from './body-schema.ts';

/** Those of `POST /v2/booking` say the same. */
const withoutDescriptions = <P extends TProperties>(properties: P) =>
  Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, { ...one, description: undefined }])) as P;

const BatchItemBody = t.NamedObject('BatchBookingItem', {
  ...withoutDescriptions(BookingBody.properties),
  // A client that sends an empty one relies on it.
  idempotency_key: Type.Optional({
    ...t.Title({ description: 'As the header Idempotency-Key of `POST /v2/booking`' }),
    [emptyValue]: invalid,
  }),
});

/** POST /v2/batch/booking. */
export type BatchBookingBody = Static<typeof BatchBookingBody>;
export const BatchBookingBody = t.NamedObject(
  'BatchBookingCreate',
  {
    bookings: t.JsonList(BatchItemBody, {
      minItems: 1,
      maxItems: 200,
      description: '1 to 200 bookings, each as of `POST /v2/booking`',
    }),
    dry_run: dryRun('true: nothing is booked, and the response has what would be'),
  },
  { examples: [{ bookings: BookingBody['examples'] as unknown[] }] },
);

/** `body` is the booking as sent; `input` lacks its invalid fields, which `errors` name. */
export type BatchItem = { key: string | undefined; body: object; input: BookingInput; errors: CodedError[] };
export type ItemError = ValidationError;

const path = /^\/bookings\/(\d+)((?:\/.*)?)$/s;

/** The item of an error inside one, and the error in it; undefined for one of the batch, as an item that is no object. */
function toPlaced(error: ItemError) {
  const [, place, instancePath = ''] = path.exec(error.instancePath) ?? [];
  if (place === undefined || (instancePath === '' && error.keyword !== 'required')) return undefined;
  return { place: Number(place), error: { ...error, instancePath } };
}

export const findErrorsOfBatch = (found: ItemError[]) => found.filter((one) => toPlaced(one) === undefined);

export function toItems(bookings: BatchBookingBody['bookings'], found: ItemError[], today: string): BatchItem[] {
  const placed = found.flatMap((one) => toPlaced(one) ?? []);
  const errorsByItem = grouped(
    placed,
    ({ place }) => place,
    ({ error }) => error,
  );
  return bookings.map(({ idempotency_key: key, ...body }, n) => {
    const { rest, errors } = collectValidationErrors(body, errorsByItem.get(n) ?? [], today);
    // A key that is not valid is among the errors.
    return { key: typeof key === 'string' ? key : undefined, body, input: rest, errors };
  });
}
