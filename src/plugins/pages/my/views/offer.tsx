import { formatDay } from '../../../../core/date-format.ts';
import { formatMoney } from '../../../../core/money.ts';
import { hasConfirmedPlace } from '../../../../core/reference/statuses.ts';
import type { Offer as LinkedOffer } from '../linked.ts';
import type { View } from '../view.ts';
import { capitalized, Fact } from '../../facts.tsx';
import { fill } from '../../fill.ts';
import { Credited } from './cancel.tsx';
import { EnrolmentStatus, Facts } from './facts.tsx';
import { Layout } from './layout.tsx';

type OfferProps = { view: View; offer: LinkedOffer; isDeclined: boolean };

/** Amounts are shown to the person who pays them. */
function describePrice({ texts, language }: View, { price, currency, isOwn }: NonNullable<LinkedOffer['price']>) {
  const { free, paidByOther, price: priced } = texts.offer;
  if (price === 0n) return free;
  return isOwn ? fill(priced, formatMoney(price, currency, language)) : paidByOther;
}

/** The page on which a waiting person accepts or declines an offer. */
export function Offer({ view, offer, isDeclined }: OfferProps) {
  const texts = view.texts.offer;
  const { enrolment, isOpen, isOffered, until, credit } = offer;
  const [day, time] = (until ?? '').split(' ');
  const isClosed = !isOpen && !isDeclined && !hasConfirmedPlace(enrolment);
  return (
    <Layout view={view} title={enrolment.title}>
      <h1>{enrolment.title}</h1>
      {isDeclined && <p role="status">{texts.declined}</p>}
      {isOpen && <p class="enrolment-status waiting">{texts.held}</p>}
      {!isOpen && !isOffered && <EnrolmentStatus view={view} enrolment={enrolment} />}
      {isClosed && <p>{texts.closed}</p>}
      <Credited view={view} credit={credit} />
      <Facts view={view} enrolment={enrolment}>
        {isOpen && (
          <Fact name={texts.until}>
            {capitalized(formatDay(day!, view.language))}, <span class="time">{time}</span>
          </Fact>
        )}
      </Facts>
      {isOpen && (
        <form method="post">
          <p>{texts.help}</p>
          {offer.price && <p>{describePrice(view, offer.price)}</p>}
          <p class="buttons">
            <button name="answer" value="accept">
              {texts.accept}
            </button>
            <button name="answer" value="decline" class="secondary">
              {texts.decline}
            </button>
          </p>
        </form>
      )}
    </Layout>
  );
}
