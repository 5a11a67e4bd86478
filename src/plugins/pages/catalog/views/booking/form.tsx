import { Honeypot } from '../../../field.tsx';
import { fill } from '../../../fill.ts';
import { Facts } from '../facts.tsx';
import { Layout } from '../layout.tsx';
import { Payer } from './payer.tsx';
import { Persons } from './persons.tsx';
import { Agreement, isAllWaiting, Price } from './price.tsx';
import type { FormProps } from './props.ts';

/** The booking form of a date. */
export function BookingPage(props: FormProps) {
  const { view, date, form, errors, quote } = props;
  const { paths, texts } = view;
  const isWaiting = quote ? isAllWaiting(quote) : date.seats.status === 'waiting_list';
  const title = fill(isWaiting ? texts.form.waitingTitle : texts.form.title, date.title);
  return (
    <Layout view={view} title={errors.length > 0 ? fill(texts.form.errorTitle, title) : title} isIndexed={false}>
      <p class="trail">
        <a href={paths.start}>{texts.home}</a> › <a href={paths.date(date)}>{date.title}</a>
      </p>
      <h1>{title}</h1>
      <Errors view={view} errors={errors} />
      <div class="key-facts">
        <Facts view={view} date={date} />
      </div>
      <form method="post" action={paths.booking(date)} class="booking">
        {/* Enter in a field shows the price, and does not book. */}
        <button name="action" value="check" class="unseen" tabIndex={-1} aria-hidden="true" formNoValidate>
          {texts.form.check}
        </button>
        <input type="hidden" name="key" value={form.key} />
        <input type="hidden" name="version" value={form.version} />
        {form.kept && <input type="hidden" name="kept" value={form.kept} />}
        <Honeypot label={texts.form.honeypot} />
        <p class="hint">{texts.form.required}</p>
        <Persons {...props} />
        <Payer {...props} />
        <Price {...props} />
        <Agreement {...props} />
      </form>
    </Layout>
  );
}

/** All errors, with links to their fields. */
export function Errors({ view, errors }: Pick<FormProps, 'view' | 'errors'>) {
  if (errors.length === 0) return null;
  return (
    <div class="errors" role="alert" tabIndex={-1} autofocus>
      {errors.some(({ name }) => name !== undefined) && <h2>{view.texts.form.errorsFound}</h2>}
      <ul>
        {errors.map(({ name, text }) => (
          <li>{name === undefined ? text : <a href={`#${name}`}>{text}</a>}</li>
        ))}
      </ul>
    </div>
  );
}
