import { locales, type Language } from '../../../../core/reference/language.ts';
import { capitalized, When } from '../../facts.tsx';
import { grouped } from '../../../../lists/relations.ts';
import type { CatalogDate } from '../dates/model.ts';
import type { View } from '../view.ts';
import { Seats, toPlaceText, toPriceText, toZoneText } from './facts.tsx';

/** Formats `2030-06` as `June 2030`. */
export const formatMonth = (month: string, language: Language) =>
  capitalized(
    new Intl.DateTimeFormat(locales[language], { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
      new Date(`${month}-01`),
    ),
  );

type DatesProps = { view: View; dates: CatalogDate[] };

/** Dates below a heading for each month. */
export function DatesByMonth({ view, dates }: DatesProps) {
  const months = grouped(dates, ({ startAt }) => startAt.slice(0, 7));
  return (
    <>
      {[...months].map(([month, ofMonth]) => (
        <section aria-labelledby={`m${month}`}>
          <h2 class="month" id={`m${month}`}>
            {formatMonth(month, view.language)}
          </h2>
          <Dates view={view} dates={ofMonth} />
        </section>
      ))}
    </>
  );
}

export const Dates = ({ view, dates }: DatesProps) => (
  <ul class="dates">
    {dates.map((date) => (
      <li>
        <h3>
          <a href={view.paths.date(date)}>{date.title}</a>
        </h3>
        <p class="when">
          <When view={view} span={date} />
          {toZoneText(view, date)}
        </p>
        <p class="where">{toPlaceText(view, date)}</p>
        {date.price && <p class="price">{toPriceText(view, date.price)}</p>}
        <Seats view={view} date={date} />
      </li>
    ))}
  </ul>
);
