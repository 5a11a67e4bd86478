import { Field } from '../../../field.tsx';
import { companyFields, maxLengths, type PayerField } from '../../booking/form.ts';
import { findError, type FormProps } from './props.ts';

const types: Partial<Record<PayerField, 'email' | 'tel'>> = {
  booker_email: 'email',
  booker_phone: 'tel',
  invoice_email: 'email',
};
const autocompletes: Partial<Record<PayerField, string>> = {
  ...{ booker_name: 'billing name', booker_email: 'billing email', booker_phone: 'billing tel' },
  ...{ invoice_address_1: 'billing address-line1', invoice_address_2: 'billing address-line2' },
  ...{ invoice_address_3: 'billing address-line3', invoice_zipcode: 'billing postal-code' },
  ...{ invoice_city: 'billing address-level2', company: 'billing organization' },
};

const persons: PayerField[] = ['booker_name', 'booker_email', 'booker_phone'];
const addresses: PayerField[] = [
  ...(['invoice_address_1', 'invoice_address_2', 'invoice_address_3', 'invoice_zipcode', 'invoice_city'] as const),
  ...(['invoice_email', 'invoice_reference'] as const),
];

/** The payer, and the data of the invoice. */
export function Payer(props: FormProps) {
  const { view, form } = props;
  const texts = view.texts.form;
  return (
    <section aria-labelledby="payer">
      <h2 id="payer">{texts.payer}</h2>
      <p class="hint" id="payer-hint">
        {texts.payerHint}
      </p>
      <div class="fields" role="group" aria-labelledby="payer" aria-describedby="payer-hint">
        {persons.map((name) => (
          <PayerText {...props} name={name} />
        ))}
      </div>
      <h3>{texts.invoice}</h3>
      <fieldset>
        <legend>{texts.kind}</legend>
        {(['private', 'company'] as const).map((kind) => (
          <label class="choice">
            <input
              id={`kind_${kind}`}
              type="radio"
              name="kind"
              value={kind}
              checked={form.isCompany === (kind === 'company')}
            />
            {kind === 'company' ? texts.business : texts.private}
          </label>
        ))}
      </fieldset>
      <div class="fields of-company">
        {companyFields.map((name) => (
          <PayerText {...props} name={name} label={name === 'company' ? texts.payerCompany : undefined} />
        ))}
      </div>
      <div class="fields">
        {addresses.map((name) => (
          <PayerText {...props} name={name} />
        ))}
      </div>
    </section>
  );
}

/** Optional: what is needed depends on other fields. */
export function PayerText(props: FormProps & { name: PayerField; label?: string | undefined }) {
  const { view, form, name } = props;
  const { fields, form: texts } = view.texts;
  const { label = `${fields[name]} ${texts.optional}` } = props;
  return (
    <Field
      name={name}
      label={label}
      type={types[name] ?? 'text'}
      autocomplete={autocompletes[name] ?? 'off'}
      isRequired={false}
      value={form.payer[name]}
      maxLength={maxLengths[name]}
      error={findError(props, name)}
    />
  );
}
