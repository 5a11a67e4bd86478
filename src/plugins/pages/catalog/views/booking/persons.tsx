import { formatMoney } from '../../../../../core/money.ts';
import { Field } from '../../../field.tsx';
import { fill } from '../../../fill.ts';
import { maxLengths, personFields, toName, type PersonField } from '../../booking/form.ts';
import { formLimits } from '../../booking/limits.ts';
import { toPrice } from '../../dates/model.ts';
import { findError, type FormProps } from './props.ts';

/** The participants; each button shows the form again. */
export function Persons(props: FormProps) {
  const { view, form } = props;
  const texts = view.texts.form;
  return (
    <section aria-labelledby="participants">
      <h2 id="participants">{view.texts.booking.participants}</h2>
      {form.persons.map((_person, n) => (
        <Person {...props} n={n} />
      ))}
      {form.persons.length < formLimits.persons ? (
        <p>
          <button name="action" value="add" class="secondary" formNoValidate>
            {texts.add}
          </button>
        </p>
      ) : (
        <p>{fill(texts.tooMany, formLimits.persons)}</p>
      )}
    </section>
  );
}

const types: Partial<Record<PersonField, 'email' | 'tel' | 'date'>> = {
  email: 'email',
  phone: 'tel',
  date_of_birth: 'date',
};
/** Autocompletes of the first participant; browsers do not know the others. */
const autocompletes: Partial<Record<PersonField, string>> = {
  ...{ firstname: 'given-name', lastname: 'family-name', email: 'email', phone: 'tel', company: 'organization' },
  ...{ position: 'organization-title', date_of_birth: 'bday' },
};

function Person(props: FormProps & { n: number }) {
  const { view, form, uses, focus, n } = props;
  const { fields, form: texts } = view.texts;
  const person = form.persons[n]!;
  const getUse = (field: PersonField) => (field in uses ? uses[field as keyof typeof uses] : 'required');
  const isNew = focus === 'person' && n === form.persons.length - 1;
  return (
    <fieldset class="person">
      <legend>{fill(texts.participant, n + 1)}</legend>
      <div class="fields">
        {personFields
          .filter((field) => getUse(field) !== 'off')
          .map((field) => (
            <Field
              name={toName(field, n)}
              label={getUse(field) === 'required' ? fields[field] : `${fields[field]} ${texts.optional}`}
              type={types[field] ?? 'text'}
              autocomplete={(n === 0 && autocompletes[field]) || 'off'}
              isRequired={getUse(field) === 'required'}
              value={person[field]}
              maxLength={maxLengths[field]}
              isLong={field === 'comment'}
              hasFocus={isNew && field === 'firstname'}
              error={findError(props, toName(field, n))}
            />
          ))}
        <Products {...props} />
      </div>
      {form.persons.length > 1 && (
        <p>
          <button name="action" value={`remove_${n + 1}`} class="plain" formNoValidate>
            {fill(texts.remove, n + 1)}
          </button>
        </p>
      )}
    </fieldset>
  );
}

/** The choice between the products of the course. */
function Products({ view, date, form, n }: FormProps & { n: number }) {
  const { products } = date;
  if (products.length < 2) return null;
  const name = toName('product', n);
  return (
    <div class="field">
      <label for={name}>{view.texts.fields.product}</label>
      <select id={name} name={name}>
        {products.map((product) => (
          <option value={product.id} selected={String(product.id) === form.persons[n]!.product}>
            {product.title} – {formatMoney(toPrice(product)!.value, product.currency, view.language)}
          </option>
        ))}
      </select>
    </div>
  );
}
