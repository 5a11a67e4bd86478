import { domainToUnicode } from 'node:url';
import { fill } from '../../fill.ts';
import type { Description } from '../../../../domains/courses/courses/description-service.ts';
import { canBook, type CatalogDate } from '../dates/model.ts';
import { JsonLd, toEvent } from '../feeds/json-ld.tsx';
import { toSummary } from '../summary.ts';
import type { View } from '../view.ts';
import { Descriptions } from './course.tsx';
import { DateGatherings, Facts } from './facts.tsx';
import { Layout } from './layout.tsx';

type DateProps = { view: View; date: CatalogDate; descriptions: Description[]; isComing: boolean };

/** The page of one date. */
export function DatePage({ view, date, descriptions, isComing }: DateProps) {
  const { texts, paths } = view;
  const lead = descriptions.filter(({ name }) => name === 'lead');
  const others = descriptions.filter(({ name }) => name !== 'lead');
  const course = { id: date.courseId, title: date.courseTitle };
  const summary = toSummary(descriptions.map(({ html }) => html));
  return (
    <Layout
      view={view}
      title={date.title}
      description={summary}
      isIndexed={isComing}
      head={isComing && <JsonLd data={toEvent(view, date, summary)} />}
    >
      <p class="trail">
        <a href={paths.start}>{texts.home}</a> › <a href={paths.course(course)}>{date.courseTitle}</a>
      </p>
      <h1>{date.title}</h1>
      <Descriptions view={view} descriptions={lead} />
      <div class="key-facts date-facts">
        <Facts view={view} date={date} />
        <Book view={view} date={date} />
        <p class="feeds">
          <a href={paths.dateCalendar(date)}>{texts.feeds.add}</a>
        </p>
      </div>
      <DateGatherings view={view} date={date} />
      <Descriptions view={view} descriptions={others} />
    </Layout>
  );
}

function Book({ view: { texts, paths }, date }: Pick<DateProps, 'view' | 'date'>) {
  if (!canBook(date)) return null;
  const external = date.externalUrl;
  return (
    <p>
      <a class="button primary" href={external ?? paths.booking(date)}>
        {external
          ? fill(texts.bookElsewhere, domainToUnicode(new URL(external).hostname))
          : date.seats.status === 'open'
            ? texts.book
            : texts.bookWaiting}
      </a>
    </p>
  );
}
