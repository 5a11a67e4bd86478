import { Type, type Static } from '@sinclair/typebox';
import type { Fault } from '../../core/errors.ts';
import * as t from '../../schema/types.ts';
import { currencyCodes } from '../../reference/currencies.ts';
import { fault, getFault, fieldFault, type BookingCode } from './schema.ts';

const { Optional } = Type;

const Address = () => ({ ...t.Email(), [t.Read]: 'title' as const });

export const ParticipantBody = Type.Object({
  firstname: t.Title(),
  lastname: t.Title(),
  email: Address(),
  phone: Optional(t.LongLine()),
  company: Optional(t.Line()),
  position: Optional(t.LongLine()),
  date_of_birth: Optional(Type.String({ format: 'date', pattern: '^(?!0000)', description: 'yyyy-mm-dd' })),
  comment: Optional(t.Note()),
  status_id: Optional(t.OneOf([1, 3, 7], { default: 1, description: '1 confirmed, 3 waiting list, 7 unconfirmed' })),
  products: Optional(t.JsonList(t.Id, { description: "Ids of products; the course's main product unless sent" })),
  trigger_value: Optional(t.LongLine({ description: 'Routes the participant to the child course date of this value' })),
});

const json = { [t.Read]: 'json' as const };
const receipt = Optional(t.Flag({ default: false, description: 'Mails a receipt to each participant' }));
const Config = Type.Object(
  {
    reject_cancelled_course_date: Optional(t.Flag({ default: true })),
    reject_passed_deadline: Optional(t.Flag({ default: true })),
    seats_availability_check: Optional(
      t.Flag({ default: true, description: 'false gives each participant the status asked for, whatever the counts' }),
    ),
    waiting_list_when_full: Optional(t.Flag({ default: false, description: 'Who finds no seat waits for one' })),
    send_receipt_email_to_participant: receipt,
    send_account_created_email_to_user: Optional(
      t.Flag({ default: false, description: 'Mails a link to choose a password to each new course user' }),
    ),
  },
  json,
);

/** POST /v2/booking. */
export const BookingBody = Type.Object(
  {
    coursedate_id: t.Id,
    payment_method: t.OneOf(['invoice']),
    currency: Optional(t.UpperCode(currencyCodes, { description: "The course's unless sent" })),
    campaign_code: Optional(t.Title()),
    voucher_code: Optional(t.Title()),
    booker_name: Optional(t.Line()),
    booker_email: Optional(Address()),
    booker_phone: Optional(t.LongLine()),
    company: Optional(t.Line()),
    company_number: Optional(t.Line()),
    gln_number: Optional(t.Line()),
    customer_id: Optional(t.Id),
    invoice_reference: Optional(t.Line()),
    invoice_address_1: Optional(t.Line()),
    invoice_address_2: Optional(t.Line()),
    invoice_address_3: Optional(t.Line()),
    invoice_zipcode: Optional(t.Line()),
    invoice_city: Optional(t.Line()),
    invoice_email: Optional(Address()),
    participants: t.JsonList(ParticipantBody),
    config: Optional(Config),
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

type Whole = Static<typeof BookingBody>;
export type SentParticipant = Partial<Static<typeof ParticipantBody>>;
/** A booking as it was sent: any of it may be missing, and then a fault says so. */
export type SentBooking = Partial<Omit<Whole, 'participants'>> & { participants?: SentParticipant[] };

/** PUT /v2/booking/:id/deregister. */
export type DeregisterBody = Static<typeof DeregisterBody>;
export const DeregisterBody = Type.Object({
  config: Optional(
    Type.Object(
      {
        with_fee: Optional(t.Flag({ default: false, description: 'Deregistered with fee' })),
        send_receipt_email_to_participant: receipt,
      },
      json,
    ),
  ),
});

/** Fields that have a fault of their own; any other is `field_invalid`. */
const getErrorCode: Record<string, BookingCode> = {
  coursedate_id: 'course_date_identifier_invalid',
  payment_method: 'payment_method_invalid',
  campaign_code: 'campaign_code_invalid',
  voucher_code: 'voucher_code_invalid',
  customer_id: 'customer_invalid',
  participants: 'participant_count_invalid',
};
const codeOfParticipant: Record<string, BookingCode> = {
  firstname: 'participant_name_invalid_empty',
  lastname: 'participant_name_invalid_empty',
  email: 'participant_email_invalid_empty',
  products: 'participant_products_invalid',
};

/** What a validator says of one field: where it is, and for a missing one, its name. */
export type Refusal = { instancePath: string; keyword: string; params: Record<string, unknown> };

/**
 * Words what the validator refused, in the document's order, and gives what is left without the refused fields: the rest
 * is then looked at all the same, and every fault told at once. What was sent stays as it was read.
 */
export function collectValidationErrors(
  input: SentBooking,
  refusals: Refusal[],
): { rest: SentBooking; wrong: Fault[] } {
  const paths = refusals.map(({ instancePath, keyword, params }) => {
    const missing = keyword === 'required' ? [String(params['missingProperty'])] : [];
    return [...instancePath.split('/').slice(1), ...missing];
  });
  const { participants } = input;
  const rest = { ...input, ...(Array.isArray(participants) ? { participants: [...participants] } : {}) };
  for (const path of paths) forget(rest, path);
  const logged = paths.flatMap(fieldsAt).sort((one, other) => getRank(one) - getRank(other));
  return { rest, wrong: [...logged.map(faultAt), ...tooLong(rest)] };
}

function forget(rest: SentBooking, [top = '', at, field]: string[]) {
  const { participants } = rest;
  if (top === 'participants' && at !== undefined) {
    participants![Number(at)] = field === undefined ? {} : { ...participants![Number(at)], [field]: undefined };
  } else if (top === 'config') {
    rest.config = unjudged;
  } else {
    Object.assign(rest, { [top]: undefined });
  }
}

/** Nobody knows what a config with a fault wanted: what depends on it is not held against the booking. */
const unjudged = {
  reject_cancelled_course_date: false,
  reject_passed_deadline: false,
  seats_availability_check: false,
};

/** A participant who is no object lacks both a name and an address. */
const fieldsAt = (path: string[]) =>
  path[0] === 'participants' && path.length === 2
    ? [
        [...path, 'firstname'],
        [...path, 'email'],
      ]
    : [path];

function faultAt([top = '', at, field = '']: string[]): Fault {
  if (top in getErrorCode && at === undefined) return fault(getErrorCode[top]!);
  if (top !== 'participants') return fieldFault(at === undefined ? top : `${top}.${at}`);
  const code = codeOfParticipant[field];
  return code ? getFault(Number(at), code) : fieldFault(field, Number(at));
}

/** What an index of the database can hold of one person. Any name fits, beside an e-mail of plain letters. */
const maxBytes = 2_600;
const tooLong = ({ participants = [] }: SentBooking): Fault[] =>
  participants.flatMap(({ email, firstname, lastname }, n) =>
    Buffer.byteLength(`${email}_${firstname}_${lastname}`.toLowerCase()) > maxBytes ? [fieldFault('email', n)] : [],
  );

const fields = Object.keys(BookingBody.properties);
const participantFields = Object.keys(ParticipantBody.properties);
const getRank = ([top = '', at = '0', field = '']: string[]) =>
  (fields.indexOf(top) * 1_000 + (top === 'participants' ? Number(at) : 0)) * 1_000 + participantFields.indexOf(field);
