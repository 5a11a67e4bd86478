import { formatMoney, type Minor } from '../../../../../core/money.ts';
import { getEnrolmentStatus } from '../../../../../core/reference/statuses.ts';
import { Fact, Lines, When } from '../../../facts.tsx';
import { fill } from '../../../fill.ts';
import type { Confirmation } from '../../booking/confirmation.ts';
import type { View } from '../../view.ts';
import { toZoneText } from '../facts.tsx';
import { Layout, listSeller } from '../layout.tsx';

type ConfirmedProps = { view: View; confirmation: Confirmation };

/** The page of a new booking. */
export function Confirmed({ view, confirmation }: ConfirmedProps) {
  const texts = view.texts.form.confirmation;
  const { places, balance, mailedTo, link } = confirmation;
  const [first] = places;
  const statuses = places.map(getEnrolmentStatus);
  const { waiting } = balance;
  const title = waiting === 'all' ? texts.titleWaiting : texts.title;
  const notMailed = link === undefined ? texts.notMailedOrLinked : texts.notMailed;
  return (
    <Layout view={view} title={title} isIndexed={false}>
      <h1>{title}</h1>
      {first && (
        <p class="lead">
          {first.title}, <When view={view} span={first} isInSentence />
          {toZoneText(view, first)}
        </p>
      )}
      {waiting !== 'none' && <p class="seats waiting">{waiting === 'all' ? texts.waitingAll : texts.waitingSome}</p>}
      <h2>{view.texts.booking.participants}</h2>
      <ul>
        {places.map(({ name }, n) => (
          <li>
            {name}: {texts.statuses[statuses[n]!]}
          </li>
        ))}
      </ul>
      <Amounts {...{ view, confirmation }} />
      <p>{mailedTo === null ? notMailed : fill(texts.mailed, mailedTo)}</p>
      {link !== undefined && (
        <>
          <p>
            <a class="button" href={link}>
              {texts.link}
            </a>
          </p>
          <p class="hint">{texts.linkHelp}</p>
        </>
      )}
    </Layout>
  );
}

function Amounts({ view, confirmation: { balance } }: ConfirmedProps) {
  const { form, booking } = view.texts;
  const { orderId, currency, total, vat, paid, due, waiting } = balance;
  const format = (amount: Minor) => formatMoney(amount, currency, view.language);
  return (
    <section aria-labelledby="amounts">
      <h2 id="amounts">{form.confirmation.amounts}</h2>
      <dl class="amounts">
        <Fact name={form.total}>{format(total)}</Fact>
        {vat !== 0n && <Fact name={form.vat}>{format(vat)}</Fact>}
        {paid !== 0n && <Fact name={booking.paid}>{format(paid)}</Fact>}
        <Fact name={form.toPay}>
          <strong>{due > 0n && waiting === 'all' ? fill(booking.dueForPlace, format(due)) : format(due)}</strong>
          {due > 0n && waiting === 'some' && (
            <>
              <br />
              <span class="hint">{booking.dueForSome}</span>
            </>
          )}
        </Fact>
        <Fact name={form.confirmation.order}>{orderId}</Fact>
      </dl>
      <dl>
        <Fact name={form.confirmation.seller}>
          <Lines lines={[view.school.title, ...listSeller(view)]} />
        </Fact>
      </dl>
    </section>
  );
}
