import { formatMoney, type Minor } from '../../../../../core/money.ts';
import { participantStatus } from '../../../../../core/reference/statuses.ts';
import { Fact, Lines } from '../../../facts.tsx';
import { fill } from '../../../fill.ts';
import type { BookingQuote } from '../../../../../domains/bookings/booking/quote-service.ts';
import { describeTerms, isOpen } from '../../../cancellation-terms.ts';
import { toAmounts } from '../../booking/price.ts';
import { listLegalLinks } from '../layout.tsx';
import { findError, type FormProps } from './props.ts';
import { PayerText } from './payer.tsx';

/** The codes, and what the booking costs. */
export function Price(props: FormProps) {
  const { view, quote, focus } = props;
  const texts = view.texts.form;
  const error = findError(props, 'price');
  return (
    <>
      <section aria-labelledby="codes">
        <h2 id="codes">{texts.codes}</h2>
        <div class="fields">
          <PayerText {...props} name="campaign_code" />
          <PayerText {...props} name="voucher_code" />
          <p>
            <button name="action" value="check" class="secondary" formNoValidate>
              {texts.check}
            </button>
          </p>
        </div>
      </section>
      <section aria-labelledby="price" class="key-facts" {...(focus === 'price' && { tabIndex: -1, autofocus: true })}>
        <h2 id="price">{texts.price}</h2>
        {error && <p class="field-error">{error}</p>}
        {quote && <Amounts {...props} quote={quote} />}
        {quote && <Waiting {...props} quote={quote} />}
      </section>
    </>
  );
}

type QuoteProps = FormProps & { quote: BookingQuote };

function Amounts({ view, date, quote }: QuoteProps) {
  const texts = view.texts.form;
  const { lines, discount, total, vat, byVoucher, toPay, currency } = toAmounts(quote);
  const format = (amount: Minor) => formatMoney(amount, currency, view.language);
  const titles = new Map(date.products.map(({ id, title }) => [id, title]));
  return (
    <dl class="amounts">
      {lines.map(({ productId, quantity, amount }) => (
        <Fact name={`${titles.get(productId) ?? date.courseTitle} × ${quantity}`}>{format(amount)}</Fact>
      ))}
      {discount !== 0n && <Fact name={texts.discount}>{format(-discount)}</Fact>}
      <Fact name={texts.total}>{format(total)}</Fact>
      {vat !== 0n && <Fact name={texts.vat}>{format(vat)}</Fact>}
      {byVoucher !== 0n && <Fact name={texts.byVoucher}>{format(-byVoucher)}</Fact>}
      <Fact name={texts.toPay}>
        <strong>{format(toPay)}</strong>
      </Fact>
    </dl>
  );
}

const listWaiting = ({ participants }: BookingQuote) =>
  participants.flatMap(({ statusId }, n) => (statusId === participantStatus.waiting ? [n] : []));

/** True if nobody gets a place at once. */
export const isAllWaiting = (quote: BookingQuote) => listWaiting(quote).length === quote.participants.length;

function Waiting({ view, form, quote }: QuoteProps) {
  const texts = view.texts.form;
  const waiting = listWaiting(quote);
  if (waiting.length === 0) return null;
  const toPerson = (n: number) => {
    const { firstname, lastname } = form.persons[n]!;
    return `${firstname} ${lastname}`.trim() || fill(texts.participant, n + 1);
  };
  return (
    <p class="seats waiting">
      {isAllWaiting(quote) ? texts.waitingAll : fill(texts.waitingSome, waiting.map(toPerson).join(', '))}{' '}
      {quote.totals.inclVat > 0n && texts.waitingBinding}
    </p>
  );
}

/** The terms, and the button that binds. */
export function Agreement({ view, quote, terms }: FormProps) {
  const { texts, school } = view;
  const { cancellation } = texts.form;
  const links = listLegalLinks(view);
  return (
    <>
      {school.withdrawalText && (
        <>
          <h3>{texts.form.withdrawal}</h3>
          <p>
            <Lines lines={school.withdrawalText.split(/\r?\n/)} />
          </p>
        </>
      )}
      {links.length > 0 && (
        <ul class="links">
          {links.map(({ title, href }) => (
            <li>
              <a href={href} target="_blank" rel="noopener">
                {title}
              </a>
            </li>
          ))}
        </ul>
      )}
      {quote && terms && <p>{isOpen(terms) ? describeTerms(view, terms, cancellation) : cancellation.closed}</p>}
      {quote && (
        <p>
          <button name="action" value="book">
            {toButtonText(view.texts.form, quote)}
          </button>
        </p>
      )}
    </>
  );
}

function toButtonText(texts: FormProps['view']['texts']['form'], quote: BookingQuote) {
  const costs = toAmounts(quote).toPay > 0n;
  if (isAllWaiting(quote)) return costs ? texts.joinWaitingToPay : texts.joinWaiting;
  return costs ? texts.bookToPay : texts.bookFree;
}
