import { safeLink } from '../../../../core/safe-link.ts';
import type { Description } from '../../../../domains/courses/courses/description-service.ts';
import type { CatalogDate } from '../dates/model.ts';
import { JsonLd, toCourseData } from '../feeds/json-ld.tsx';
import { toSummary } from '../summary.ts';
import type { View } from '../view.ts';
import { Dates } from './date-list.tsx';
import { InterestForm } from './interest.tsx';
import { Layout } from './layout.tsx';
import { Subscribe } from './subscribe.tsx';

type CourseProps = {
  view: View;
  course: { id: number; title: string; external_more_info_url: string | null };
  dates: CatalogDate[];
  descriptions: Description[];
  /** True without a date, if the school tells of the next one. */
  isAwaited: boolean;
};

/** The page of a course with its coming dates. */
export function Course({ view, course, dates, descriptions, isAwaited }: CourseProps) {
  const { texts, paths, urls } = view;
  const lead = descriptions.filter(({ name }) => name === 'lead');
  const others = descriptions.filter(({ name }) => name !== 'lead');
  const summary = toSummary(descriptions.map(({ html }) => html));
  const more = safeLink(course.external_more_info_url);
  return (
    <Layout
      view={view}
      title={course.title}
      description={summary}
      head={<JsonLd data={toCourseData(view, course, toLead(descriptions))} />}
    >
      <p class="trail">
        <a href={paths.start}>{texts.home}</a>
      </p>
      <h1>{course.title}</h1>
      <Descriptions view={view} descriptions={lead} />
      <section aria-labelledby="dates">
        <h2 id="dates">{texts.dates}</h2>
        {dates.length === 0 ? <p>{texts.noDates}</p> : <Dates view={view} dates={dates} />}
        {dates.length > 0 && (
          <p class="feeds">
            <Subscribe view={view} url={urls.courseCalendar(course)} path={paths.courseCalendar(course)} />
          </p>
        )}
      </section>
      {isAwaited && (
        <section aria-labelledby="interest">
          <h2 id="interest">{texts.interest.title}</h2>
          <InterestForm view={view} course={course} />
        </section>
      )}
      <Descriptions view={view} descriptions={others} />
      {more && (
        <p>
          <a href={more}>{texts.moreInfo}</a>
        </p>
      )}
    </Layout>
  );
}

/** Returns the summary of the list of courses. */
const toLead = (descriptions: Description[]) =>
  toSummary(
    descriptions
      .filter(({ name }) => name === 'lead' || name === 'description')
      .map(({ html }) => html)
      .slice(0, 1),
  );

export const Descriptions = ({ view, descriptions }: Pick<CourseProps, 'view' | 'descriptions'>) => (
  <>
    {descriptions.map(({ name, html }) => (
      <>
        {view.texts.courseTexts[name] && <h2>{view.texts.courseTexts[name]}</h2>}
        <div class={name === 'lead' ? 'text lead' : 'text'} dangerouslySetInnerHTML={{ __html: html }} />
      </>
    ))}
  </>
);
