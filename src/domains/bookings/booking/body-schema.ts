import { Type, type Static } from '@sinclair/typebox';
import { Problem, type CodedError } from '../../../core/errors.ts';
import * as codes from '../../../core/schema/codes.ts';
import { createCoercion } from '../../../core/schema/coercion.ts';
import { coercionKind, t } from '../../../core/schema/types.ts';
import { compileValidator } from '../../../core/schema/validator.ts';
import { BookingStatusId } from '../../participants/participants/schema.ts';
import {
  fieldError,
  participantError,
  placesError,
  bookingError,
  type BookingCode,
} from '../../../core/booking-errors.ts';

const { Optional } = Type;

export const ParticipantBody = t.NamedObject('BookingParticipant', {
  firstname: t.Title(),
  lastname: t.Title(),
  email: t.Email(),
  phone: Optional(t.LongLine()),
  company: Optional(t.Line()),
  position: Optional(t.LongLine()),
  date_of_birth: Optional(
    Type.String({ format: 'date', pattern: '^(?!0000)', description: 'yyyy-mm-dd, not after today' }),
  ),
  comment: Optional(t.Note()),
  status_id: t.withDefault(BookingStatusId, 1),
  products: Optional(t.JsonList(t.Id, { description: "Ids of products; the course's main product unless sent" })),
  trigger_value: Optional(
    t.Title({
      maxLength: 5_000,
      description: 'Books the participant on the child course date with an equal value, without regard to case',
    }),
  ),
  custom_properties: Optional({ ...t.CustomProperties, description: 'Further values of your own' }),
});

const json = { [coercionKind]: 'json' as const };
export const sendReceipts = Optional(
  Type.Boolean({
    description: 'true: each participant gets a receipt by e-mail; the booking settings decide unless sent',
  }),
);
const Config = t.NamedObject(
  'BookingConfig',
  {
    reject_cancelled_course_date: Optional(
      Type.Boolean({ default: true, description: 'true: an error if the date is canceled' }),
    ),
    reject_passed_deadline: Optional(Type.Boolean({ default: true, description: 'true: an error after the deadline' })),
    seats_availability_check: Optional(
      Type.Boolean({
        default: true,
        description: 'false: each participant gets the requested status, even without a free seat',
      }),
    ),
    waiting_list_when_full: Optional(
      Type.Boolean({ default: false, description: 'Puts participants without a free seat on the waiting list' }),
    ),
    send_receipt_email_to_participant: sendReceipts,
    send_account_created_email_to_user: Optional(
      Type.Boolean({
        default: false,
        description: 'true: each new course user gets a link to choose a password by e-mail',
      }),
    ),
    send_link_email_to_booker: Optional(
      Type.Boolean({ default: false, description: 'true: `booker_email` gets a link to a page of the booking' }),
    ),
  },
  json,
);

/** POST /v2/booking. */
export const BookingBody = t.NamedObject(
  'BookingCreate',
  {
    coursedate_id: { ...t.Id, description: 'Id of the course date to book' },
    payment_method: { ...t.OneOf(['invoice']), description: 'How the order is paid' },
    currency: Optional({ ...codes.CurrencyCode, description: "The course's currency unless sent" }),
    campaign_code: Optional({ ...t.Title(), description: 'Code of a running campaign; lowers the price' }),
    voucher_code: Optional({ ...t.Title(), description: 'Code of a voucher; its balance pays a part' }),
    booker_name: Optional({ ...t.Line(), description: 'Person who books, as the order names them' }),
    booker_email: Optional({ ...t.Email(), description: 'E-mail address of the person who books' }),
    booker_phone: Optional({ ...t.LongLine(), description: 'Phone number of the person who books' }),
    language: Optional({
      ...codes.teachingLanguage.Code,
      description: 'Language of the mails about the booking, where they have one; that of the school unless sent',
    }),
    company: Optional({ ...t.Line(), description: 'Company of the participants who name none' }),
    company_number: Optional({ ...t.Line(), description: 'Organization number of the company' }),
    gln_number: Optional({ ...t.Line(), description: 'Global Location Number for electronic invoices' }),
    customer_id: Optional({ ...t.Id, description: 'Id of an active customer who pays' }),
    invoice_reference: Optional({ ...t.Line(), description: 'Reference on the invoice' }),
    invoice_address_1: Optional({ ...t.Line(), description: 'Invoice address, first line' }),
    invoice_address_2: Optional({ ...t.Line(), description: 'Second line' }),
    invoice_address_3: Optional({ ...t.Line(), description: 'Third line' }),
    invoice_zipcode: Optional({ ...t.Line(), description: 'Postal code' }),
    invoice_city: Optional({ ...t.Line(), description: 'City' }),
    invoice_email: Optional({ ...t.Email(), description: 'E-mail address for the invoice' }),
    waiting_together: Optional(
      Type.Boolean({
        default: false,
        description: 'true: the participants get their seats together, or wait for them together',
      }),
    ),
    participants: Optional({ ...t.JsonList(ParticipantBody, { minItems: 1 }), description: '1 to 1,000 persons' }),
    places: Optional(
      Type.Integer({
        minimum: 1,
        maximum: 200,
        description: 'Instead of `participants`: reserves this number of places, to be named later',
      }),
    ),
    config: Optional({ ...Config, description: 'Checks and mails of this booking' }),
  },
  {
    examples: [
      {
        coursedate_id: 76,
        payment_method: 'invoice',
        participants: [{ firstname: 'Kari', lastname: 'Nordmann', email: 'kari@fjordenergy.example' }],
      },
    ],
  },
);

type ValidBooking = Static<typeof BookingBody>;
type ParticipantInput = Partial<Static<typeof ParticipantBody>>;
/** A booking request before its errors are known: any field may be missing. */
export type BookingInput = Partial<Omit<ValidBooking, 'participants'>> & { participants?: ParticipantInput[] };

/** Fields with a code of their own; any other is `field_invalid`. */
const errorCodes: Record<string, BookingCode> = {
  coursedate_id: 'course_date_identifier_invalid',
  payment_method: 'payment_method_invalid',
  campaign_code: 'campaign_code_invalid',
  voucher_code: 'voucher_code_invalid',
  customer_id: 'customer_invalid',
  participants: 'participant_count_invalid',
};
const participantErrorCodes: Record<string, BookingCode> = {
  firstname: 'participant_name_invalid_empty',
  lastname: 'participant_name_invalid_empty',
  email: 'participant_email_invalid_empty',
  products: 'participant_products_invalid',
};

/** A field that is missing or not valid. */
type Fault = { path: string[]; isMissing: boolean };
export type ValidationError = { instancePath: string; keyword: string; params: Record<string, unknown> };

/** Converts validation errors to coded ones, and removes the invalid fields, so that the rest can be checked. */
export function collectValidationErrors(
  input: BookingInput,
  validationErrors: ValidationError[],
  today: string,
): { rest: BookingInput; errors: CodedError[] } {
  const ofFields = validationErrors.filter(({ keyword }) => keyword !== 'unknown');
  const faults = ofFields.map(({ instancePath, keyword, params }): Fault => {
    const isMissing = keyword === 'required';
    const parents = instancePath.split('/').slice(1);
    return { path: isMissing ? [...parents, String(params['missingProperty'])] : parents, isMissing };
  });
  faults.push(...countFaults(input));
  const { participants } = input;
  const rest = { ...input, ...(Array.isArray(participants) ? { participants: [...participants] } : {}) };
  for (const { path } of faults) removeField(rest, path);
  const fields = faults.flatMap(fieldsAt).sort((one, other) => getRank(one.path) - getRank(other.path));
  const unknown = validationErrors.flatMap((one) => (ofFields.includes(one) ? [] : [String(one.params['name'])]));
  const ofValues = [...fields.map(errorAt), ...linkToNobody(input), ...tooLong(rest), ...futureBirthDates(rest, today)];
  return { rest, errors: [...Problem.invalidFields({ unknown }).errors, ...ofValues] };
}

const coerceBooking = createCoercion(BookingBody);
const validateBooking = compileValidator(BookingBody);

/** The fields of a booking that is sent otherwise than by the interface, and their errors. */
export function parseBooking(fields: Record<string, unknown>, today: string) {
  const input: BookingInput = coerceBooking(fields);
  validateBooking(input);
  return collectValidationErrors(input, validateBooking.errors ?? [], today);
}

/** Either `participants` or `places` is needed. */
function countFaults({ participants, places }: BookingInput): Fault[] {
  if (participants === undefined && places === undefined) return [{ path: ['participants'], isMissing: true }];
  return participants !== undefined && places !== undefined ? [{ path: ['places'], isMissing: false }] : [];
}

function removeField(rest: BookingInput, [top = '', at, field]: string[]) {
  const { participants } = rest;
  if (participants && top === 'participants' && at !== undefined) {
    participants[Number(at)] = field === undefined ? {} : { ...participants[Number(at)], [field]: undefined };
  } else if (top === 'config') {
    rest.config = lenientConfig;
  } else {
    Object.assign(rest, { [top]: undefined });
  }
}

/** An invalid config turns all checks off: its options are unknown. */
const lenientConfig = {
  reject_cancelled_course_date: false,
  reject_passed_deadline: false,
  seats_availability_check: false,
};

/** A participant that is no object lacks a name and an address. */
const fieldsAt = ({ path, isMissing }: Fault): Fault[] =>
  path[0] === 'participants' && path.length === 2
    ? ['firstname', 'email'].map((name) => ({ path: [...path, name], isMissing: true }))
    : [{ path, isMissing }];

function errorAt({ path: [top = '', at, field = ''], isMissing }: Fault): CodedError {
  if (top === 'places') return { ...placesError, field: top, isMissing };
  if (top in errorCodes && at === undefined) return { ...bookingError(errorCodes[top]!), field: top, isMissing };
  if (top !== 'participants') return { ...fieldError(at === undefined ? top : `${top}.${at}`), isMissing };
  const fault = { ...fieldError(field, Number(at)), isMissing };
  const code = participantErrorCodes[field];
  return code ? { ...fault, ...participantError(Number(at), code) } : fault;
}

/** PostgreSQL's limit for an index entry; any name fits beside an ASCII e-mail. */
const maxBytes = 2_600;
const tooLong = ({ participants = [] }: BookingInput): CodedError[] =>
  participants.flatMap(({ email, firstname, lastname }, n) =>
    Buffer.byteLength(`${email}_${firstname}_${lastname}`.toLowerCase()) > maxBytes ? [fieldError('email', n)] : [],
  );

const futureBirthDates = ({ participants = [] }: BookingInput, today: string): CodedError[] =>
  participants.flatMap(({ date_of_birth: born }, n) =>
    born !== undefined && born > today ? [fieldError('date_of_birth', n)] : [],
  );

const linkToNobody = ({ config, booker_email }: BookingInput): CodedError[] =>
  config?.send_link_email_to_booker === true && booker_email === undefined
    ? [{ ...fieldError('booker_email'), isMissing: true }]
    : [];

const fieldNames = Object.keys(BookingBody.properties);
const participantFieldNames = Object.keys(ParticipantBody.properties);
const getRank = ([top = '', at = '0', field = '']: string[]) =>
  (fieldNames.indexOf(top) * 1_000 + (top === 'participants' ? Number(at) : 0)) * 1_000 +
  participantFieldNames.indexOf(field);
