import { formatDay, toDateSpan } from '../../../../core/date-format.ts';
import { formatMoney, formatPercentage } from '../../../../core/money.ts';
import { venueLines } from '../../../../core/address-format.ts';
import { capitalized, Fact, Gathering, Gatherings, Lines, When } from '../../facts.tsx';
import { fillCount } from '../../fill.ts';
import { isPassed, isSold, type CatalogDate, type Price } from '../dates/model.ts';
import type { View } from '../view.ts';

type DateProps = { view: View; date: CatalogDate };

/** Number of places from which they are not counted. */
const fewSeats = 10;

/** How a date can be booked: in a word, and with its class. */
function toSeatsText({ texts }: View, date: CatalogDate): [string, string] {
  const { state, seats } = date;
  if (state === 'canceled') return [texts.canceled, 'closed'];
  if (state === 'postponed') return [texts.postponed, 'waiting'];
  if (isPassed(date)) return [texts.deadlinePassed, 'closed'];
  if (seats.status === 'fully_booked') return [texts.fullyBooked, 'closed'];
  if (!isSold(date)) return [texts.form.errors.other, 'closed'];
  if (seats.status === 'waiting_list') return [texts.waitingList, 'waiting'];
  if (seats.free === null || seats.free >= fewSeats) return [texts.seatsOpen, 'open'];
  return [fillCount(texts.seatsLeft, seats.free), 'few'];
}

/** The zone of times that differs from that of the service, in brackets. */
export const toZoneText = (
  { timezone }: View,
  { zone, startTimeAt, endTimeAt }: Pick<CatalogDate, 'zone' | 'startTimeAt' | 'endTimeAt'>,
) => (zone !== timezone && (startTimeAt ?? endTimeAt) ? ` (${zone})` : '');

export function Seats({ view, date }: DateProps) {
  const [text, kind] = toSeatsText(view, date);
  return <p class={`seats ${kind}`}>{text}</p>;
}

export const toPriceText = ({ texts, language }: View, { value, currency }: Price) =>
  value === 0n ? texts.free : formatMoney(value, currency, language);

export const toPlaceText = ({ texts }: View, date: CatalogDate) => {
  const { city, isOnline, location, placeAdditionalInfo } = date;
  const place = [location?.title, city, placeAdditionalInfo]
    .filter((text, n, all) => text && all.indexOf(text) === n)
    .join(', ');
  return [...(isOnline ? [texts.online] : []), ...(place ? [place] : [])].join(', ');
};

/** Time, place, price and places of a date. */
export function Facts({ view, date }: DateProps) {
  const { texts, language, timezone } = view;
  const venue = [...(date.isOnline ? [texts.online] : []), ...venueLines(date)];
  return (
    <dl>
      <Fact name={texts.when}>
        <When view={view} span={date} />
      </Fact>
      {date.zone !== timezone && <Fact name={texts.zone}>{date.zone}</Fact>}
      <Fact name={texts.where}>
        <Lines lines={venue.length > 0 ? venue : [texts.placeLater]} />
      </Fact>
      {(date.price || date.priceComment) && (
        <Fact name={texts.price}>
          {date.price && <span class="price">{toPriceText(view, date.price)}</span>}
          {date.price && date.price.vatPercentage > 0 && (
            <>
              {' '}
              {texts.withVat} {formatPercentage(String(date.price.vatPercentage), language)}
            </>
          )}
          {date.price && date.priceComment && <br />}
          {date.priceComment && <span class="hint">{date.priceComment}</span>}
        </Fact>
      )}
      <Fact name={texts.seats}>
        <Seats view={view} date={date} />
      </Fact>
      {date.state === 'planned' && (
        <Fact name={texts.deadline}>{capitalized(formatDay(date.deadlineAt, language))}</Fact>
      )}
      <Fact name={texts.language}>{date.language.title}</Fact>
      {date.instructors.length > 0 && (
        <Fact name={texts.instructors}>
          <Lines lines={date.instructors} />
        </Fact>
      )}
    </dl>
  );
}

export const DateGatherings = ({ view, date }: DateProps) => (
  <Gatherings texts={view.texts}>
    {date.gatherings.map(({ at, endAt, ...shown }) => (
      <Gathering view={view} span={toDateSpan({ gatheringAt: at, gatheringEndAt: endAt })} {...shown} />
    ))}
  </Gatherings>
);
