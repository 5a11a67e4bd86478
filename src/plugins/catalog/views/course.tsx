import { safeLink } from '../../../core/safe-link.ts';
import type { Description } from '../../../resources/course-descriptions/service.ts';
import type { CatalogDate } from '../dates/model.ts';
import type { View } from '../view.ts';
import { Dates } from './date-list.tsx';
import { Layout } from './layout.tsx';

type CourseProps = {
  view: View;
  course: { id: number; title: string; external_more_info_url: string | null };
  dates: CatalogDate[];
  descriptions: Description[];
};

/** The page of a course with its coming dates. */
export function Course({ view, course, dates, descriptions }: CourseProps) {
  const { texts, paths } = view;
  const lead = descriptions.filter(({ name }) => name === 'lead');
  const others = descriptions.filter(({ name }) => name !== 'lead');
  const more = safeLink(course.external_more_info_url);
  return (
    <Layout view={view} title={course.title} description={toSummary(descriptions)}>
      <p class="trail">
        <a href={paths.start}>{texts.home}</a>
      </p>
      <h1>{course.title}</h1>
      <Descriptions view={view} descriptions={lead} />
      <section aria-labelledby="dates">
        <h2 id="dates">{texts.dates}</h2>
        {dates.length === 0 ? <p>{texts.noDates}</p> : <Dates view={view} dates={dates} />}
      </section>
      <Descriptions view={view} descriptions={others} />
      {more && (
        <p>
          <a href={more}>{texts.moreInfo}</a>
        </p>
      )}
    </Layout>
  );
}

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

/** The first 200 characters of the texts, without tags. */
export function toSummary(descriptions: Description[]): string | undefined {
  const text = descriptions
    .map(({ html }) => html)
    .join(' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(amp|lt|gt|quot|nbsp|#39);/g, (_entity, name: string) => entities[name] ?? ' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (text === '') return undefined;
  return text.length <= 200 ? text : `${text.slice(0, 200).replace(/\s+\S*$/, '')} …`;
}
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
