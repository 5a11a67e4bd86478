import type { Problem } from '../../../../core/errors.ts';
import { fill } from '../../fill.ts';
import type { CatalogDate } from '../dates/model.ts';
import type { Texts } from '../../texts.ts';
import type { View } from '../view.ts';
import {
  payerFields,
  personFields,
  toBooker,
  toName,
  type BookingForm,
  type PayerField,
  type PersonField,
} from './form.ts';
import { codeNames, type FormFault } from './price.ts';

/** A fault, with the name of its field; without one it is of the whole form. */
export type FormError = { name: string | undefined; text: string };

/** A fault's field, whose label its text has. */
type Field = { name: string; label: string };

/** The field of a path such as `participants[0].email`; undefined for one that the form does not have. */
function findField(path: string, { fields, form }: Texts): Field | undefined {
  const [, place, member] = /^participants\[(\d+)\]\.(\w+)$/.exec(path) ?? [];
  const inPerson = personFields.find((field): field is PersonField => field === member);
  if (place !== undefined && inPerson) {
    const n = Number(place);
    return { name: toName(inPerson, n), label: `${fields[inPerson]} (${fill(form.participant, n + 1)})` };
  }
  const inPayer = payerFields.find((field): field is PayerField => field === path);
  return inPayer && { name: inPayer, label: fields[inPayer] };
}

/** The field of an error code that names none. */
const findCodeField = (code: string) => codeNames.find((name) => code.startsWith(name));

/** The fields of the first participant that the payer's come from. */
const pathsOfFirst: Record<string, string> = {
  booker_name: 'participants[0].firstname',
  booker_email: 'participants[0].email',
  booker_phone: 'participants[0].phone',
};

const noSeats = 'no_seats_available';
/** True if nothing but too few places stands against a booking. */
export const lacksSeats = ({ errors }: Pick<Faults, 'errors'>) =>
  errors.length > 0 && errors.every(({ code }) => code === noSeats);

type Faults = Pick<Problem, 'missing' | 'notValid'> & { errors: FormFault[] };

const maxName = 255;
/** True for a name, or both names of the first participant who pays, of too many characters. */
function isLongName(form: BookingForm, path: string) {
  const [, place, field] = /^participants\[(\d+)\]\.(firstname|lastname)$/.exec(path) ?? [];
  const name = field ? form.persons[Number(place)]![field as PersonField] : toBooker(form).booker_name;
  return (field !== undefined || path === 'booker_name') && Array.from(name ?? '').length > maxName;
}

/** The errors of the booking service in the words of the form. */
export function toFormErrors(
  { missing, notValid, errors }: Faults,
  form: BookingForm,
  { view: { texts }, date }: { view: View; date: CatalogDate },
): FormError[] {
  const isTyped = (name: PayerField) => form.payer[name].trim() !== '';
  const isNamed = isTyped('booker_name') || isTyped('booker_email');
  const toErrors = (paths: string[], toText: (path: string) => string) =>
    paths.map((path): FormError => {
      // The first participant pays unless the form names somebody.
      const isOfFirst = !isNamed && !(path === 'booker_phone' && isTyped(path));
      const field = findField(isOfFirst ? (pathsOfFirst[path] ?? path) : path, texts);
      return { name: field?.name, text: field ? fill(toText(path), field.label) : texts.form.errors.other };
    });
  const toInvalid = (path: string) => {
    if (isLongName(form, path)) return texts.form.longName;
    return path.endsWith('.date_of_birth') ? texts.form.notValidDay : texts.form.notValid;
  };
  const words: Record<string, string> = texts.form.errors;
  const isFull = date.seats.status === 'fully_booked';
  const toText = (code: string) => words[isFull && code === noSeats ? 'fully_booked' : code];
  const ofCodes = errors
    .filter(({ field }) => field === undefined)
    .map(({ code }): FormError => ({ name: findCodeField(code), text: toText(code) ?? texts.form.errors.other }));
  const all = [...toErrors(missing, () => texts.form.missing), ...toErrors(notValid, toInvalid), ...ofCodes];
  return [...new Map(all.map((one) => [`${one.name} ${one.text}`, one])).values()];
}
