import { formatMoney, type Minor } from '../../../../core/money.ts';
import { getEnrolmentStatus, postponed } from '../../../../core/reference/statuses.ts';
import type { NamedPlace } from '../../../../domains/bookings/participant-changes/editing-service.ts';
import type { LinkedBooking, LinkedPlace } from '../linked.ts';
import { fill, fillCount } from '../../fill.ts';
import type { View } from '../view.ts';
import { describeTerms, isOpen } from '../../cancellation-terms.ts';
import { Fact } from '../../facts.tsx';
import { Facts } from './facts.tsx';
import { Field } from '../../field.tsx';
import { Layout } from './layout.tsx';
import { toTitle } from './passwords.tsx';

export const personFields = ['firstname', 'lastname', 'email'] as const;
export type PersonField = (typeof personFields)[number];
export const toFieldName = (field: PersonField, participantId: number) => `${field}_${participantId}`;

/** The sent form: the number of names that were stored, or the persons if some are faulty. */
export type BookingForm = { named?: number; persons?: (NamedPlace & { faults: PersonField[] })[] };

/** Places that one form names. */
export const maxNamed = 10;

type BookingProps = { view: View; token: string; booking: LinkedBooking; form: BookingForm };

/** The payer's page of a booking. */
export function Booking({ view, token, booking, form }: BookingProps) {
  const texts = view.texts.booking;
  const unnamed = booking.places.filter(({ mayBeNamed }) => mayBeNamed);
  return (
    <Layout view={view} title={toTitle(view, texts.title, form.persons ?? {})}>
      <h1>{texts.title}</h1>
      {form.named !== undefined && (
        <p role="status">{form.named === 0 ? texts.namedBefore : fillCount(texts.named, form.named)}</p>
      )}
      {booking.dates.map((places) => (
        <BookedDate key={places[0]!.enrolment.courseDateId} view={view} token={token} places={places} />
      ))}
      <Amounts view={view} booking={booking} />
      {unnamed.length > 0 && <NameForm view={view} unnamed={unnamed} form={form} />}
    </Layout>
  );
}

function BookedDate({ view, token, places }: { view: View; token: string; places: LinkedPlace[] }) {
  const { texts } = view;
  const { enrolment } = places[0]!;
  return (
    <section>
      <h2>{enrolment.title}</h2>
      {enrolment.dateStatusId === postponed && <p>{texts.postponedHelp}</p>}
      <Facts view={view} enrolment={enrolment} />
      <h3>{texts.booking.participants}</h3>
      <ul class="people">
        {places.map(({ enrolment: one, name, terms }) => (
          <li key={one.id}>
            {name === '' ? texts.booking.withoutName : name}{' '}
            <span class={`enrolment-status ${getEnrolmentStatus(one)}`}>
              {texts.booking.statuses[getEnrolmentStatus(one)]}
            </span>
            {isOpen(terms) && (
              <>
                <a href={view.paths.cancelBooked(token, one.id)}>
                  {texts.cancel.cancelOne}
                  <span class="unseen">: {name === '' ? texts.booking.withoutName : name}</span>
                </a>
                <span class="hint">{describeTerms(view, terms, texts.cancel)}</span>
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Amounts({ view, booking }: { view: View; booking: LinkedBooking }) {
  const texts = view.texts.booking;
  const { orderId, currency, total, credited, paid, due, waiting } = booking;
  const format = (amount: Minor) => formatMoney(amount, currency, view.language);
  return (
    <section aria-labelledby="amounts">
      <h2 id="amounts">{texts.amounts}</h2>
      <dl>
        <Fact name={texts.total}>{format(total)}</Fact>
        {credited > 0n && <Fact name={texts.credited}>{format(credited)}</Fact>}
        <Fact name={texts.paid}>{format(paid)}</Fact>
        <Fact name={due < 0n ? texts.owed : texts.due}>
          {due > 0n && waiting === 'all' ? fill(texts.dueForPlace, format(due)) : format(due < 0n ? -due : due)}
          {due > 0n && waiting === 'some' && (
            <>
              <br />
              <span class="hint">{texts.dueForSome}</span>
            </>
          )}
        </Fact>
        <Fact name={texts.order}>{orderId}</Fact>
      </dl>
    </section>
  );
}

function NameForm({ view, unnamed, form }: { view: View; unnamed: LinkedPlace[]; form: BookingForm }) {
  const texts = view.texts.booking;
  const { persons } = form;
  return (
    <section aria-labelledby="names">
      <h2 id="names">{texts.nameThem}</h2>
      <p>{fillCount(texts.unnamed, unnamed.length)}</p>
      <form method="post" class="fields" aria-describedby={persons?.length === 0 ? 'names-error' : undefined}>
        {persons?.length === 0 && (
          <p id="names-error" class="field-error">
            {texts.nobodyNamed}
          </p>
        )}
        {unnamed.slice(0, maxNamed).map(({ enrolment: { id } }, n) => {
          const sent = persons?.find(({ participantId }) => participantId === id);
          return (
            <fieldset key={id} class="fields" aria-labelledby={`place_${id}`}>
              <h3 id={`place_${id}`}>{fill(texts.place, n + 1)}</h3>
              {personFields.map((field) => (
                <Field
                  key={field}
                  name={toFieldName(field, id)}
                  label={view.texts.fields[field]}
                  type={field === 'email' ? 'email' : 'text'}
                  autocomplete="off"
                  isRequired={false}
                  maxLength={field === 'email' ? 254 : 255}
                  value={sent?.person[field]}
                  error={sent?.faults.includes(field) ? texts.faults[field] : undefined}
                />
              ))}
            </fieldset>
          );
        })}
        <p>
          <button>{texts.save}</button>
        </p>
      </form>
    </section>
  );
}
