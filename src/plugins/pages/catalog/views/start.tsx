import type { ComponentChildren } from 'preact';
import { fillCount } from '../../fill.ts';
import {
  isChosen,
  listChoices,
  onlinePlace,
  withChosen,
  type Choice,
  type Filter,
  type FilterName,
} from '../dates/filters.ts';
import type { CatalogDate } from '../dates/model.ts';
import type { View } from '../view.ts';
import { DatesByMonth, formatMonth } from './date-list.tsx';
import { Layout } from './layout.tsx';
import { Subscribe } from './subscribe.tsx';

type StartProps = {
  view: View;
  /** All coming dates, undefined where they need not be read, and those of the filter. */
  all: CatalogDate[] | undefined;
  found: CatalogDate[];
  /** Courses without a coming date to list below the dates. */
  others: { id: number; title: string }[];
  filter: Filter;
  page: number;
  pageSize: number;
  /** Parts of the first page without a filter. */
  first?: { description: string; head: ComponentChildren };
};

/** The start page: search, and the coming dates by month. */
export function Start({ view, all, found, others, filter, page, pageSize, first }: StartProps) {
  const { texts, school, paths, urls } = view;
  const isFiltered = Object.keys(filter).length > 0;
  const shown = found.slice((page - 1) * pageSize, page * pageSize);
  return (
    <Layout
      view={view}
      title={school.title}
      description={school.tagline || undefined}
      isIndexed={first !== undefined}
      head={first?.head}
    >
      <h1>{school.title}</h1>
      {school.tagline && <p class="lead">{school.tagline}</p>}
      {(!all || all.length > 1) && <Search view={view} all={all ?? []} filter={filter} />}
      {isFiltered && (
        <p role="status">
          {found.length === 0 ? texts.noneFound : fillCount(texts.found, found.length)}{' '}
          {found.length === 0 && filter.q !== undefined && `${texts.otherWords} `}
          <a href={paths.start}>{texts.reset}</a>
        </p>
      )}
      {all?.length === 0 && <p>{texts.none}</p>}
      <DatesByMonth view={view} dates={shown} />
      <Pages view={view} filter={filter} page={page} last={Math.ceil(found.length / pageSize)} />
      {all?.length !== 0 && (
        <p class="feeds">
          <Subscribe view={view} url={urls.calendar} path={paths.calendar} />{' '}
          <a href={paths.feed}>{texts.feeds.follow}</a>
        </p>
      )}
      {others.length > 0 && (
        <section aria-labelledby="others">
          <h2 id="others">{texts.otherCourses}</h2>
          <ul>
            {others.map((course) => (
              <li>
                <a href={paths.course(course)}>{course.title}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
      {first?.description && (
        <section aria-labelledby="about">
          <h2 id="about">{texts.about}</h2>
          <div class="text" dangerouslySetInnerHTML={{ __html: first.description }} />
        </section>
      )}
    </Layout>
  );
}

function Search({ view, all, filter }: { view: View; all: CatalogDate[]; filter: Filter }) {
  const { texts, paths, language } = view;
  const choices = listChoices(all);
  const labels: Partial<Record<FilterName, (choice: Choice) => string>> = {
    month: ({ value }) => formatMonth(value, language),
    place: ({ value, label }) => (value === onlinePlace ? texts.online : label),
  };
  return (
    <form class="filters" role="search" aria-label={texts.searchLabel} action={paths.base || '/'}>
      {paths.lang && <input type="hidden" name="lang" value={paths.lang} />}
      <p class="words">
        <label for="q">{texts.filters.q}</label>
        <input id="q" name="q" type="search" value={filter.q} maxLength={200} />
      </p>
      {(Object.keys(choices) as (keyof typeof choices)[])
        .filter((name) => choices[name].length > 1 || filter[name] !== undefined)
        .map((name) => (
          <p>
            <label for={name}>{texts.filters[name]}</label>
            <select id={name} name={name}>
              <option value="">{texts.all}</option>
              {withChosen(choices[name], filter[name]).map((choice) => (
                <option value={choice.value} selected={isChosen(choice, filter[name])}>
                  {(labels[name] ?? (({ label }) => label))(choice)}
                </option>
              ))}
            </select>
          </p>
        ))}
      <p class="buttons">
        <button>{texts.search}</button>
      </p>
    </form>
  );
}

function Pages({ view, filter, page, last }: { view: View; filter: Filter; page: number; last: number }) {
  if (last <= 1) return null;
  const { texts, paths } = view;
  const link = (to: number) => paths.filtered({ ...filter, ...(to > 1 && { page: String(to) }) });
  return (
    <nav aria-label={texts.pages} class="buttons">
      {page > 1 && (
        <a rel="prev" href={link(page - 1)}>
          {texts.earlier}
        </a>
      )}
      {page < last && (
        <a rel="next" href={link(page + 1)}>
          {texts.more}
        </a>
      )}
    </nav>
  );
}
