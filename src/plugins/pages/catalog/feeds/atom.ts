import type { FastifyPluginAsync } from 'fastify';
import { spanEnds } from '../../../../core/date-format.ts';
import { toUidHost } from '../../../../core/settings.ts';
import { formatTimestamp } from '../../../../core/timestamps.ts';
import type { Services } from '../../../../http/auth/authenticate.ts';
import { getSchoolId } from '../../../../database/context.ts';
import { listRoute } from '../../../../http/list-cache/index.ts';
import type { CatalogDate } from '../dates/model.ts';
import { findTopics } from '../courses.ts';
import { listWholeDates } from '../dates/service.ts';
import { loadNewest } from '../dates/upcoming.ts';
import { cachedPage } from '../cached-page.ts';
import { readTopic } from '../query.ts';
import type { View } from '../view.ts';
import { toPlaceText, toPriceText, toZoneText } from '../views/facts.tsx';
import { element, toDocument } from './xml.ts';

const maxEntries = 50;

/** The newest of the coming dates as Atom (RFC 4287). */
export const atomFeed: FastifyPluginAsync<Services> = async (app, services) => {
  app.get('/feed.atom', {
    ...cachedPage(services, { readParameters: readTopic }),
    handler: async (request, reply) => {
      const { view } = request.catalog;
      const ctx = listRoute.toCtx(request);
      const { tag } = readTopic(request.query);
      const topics = tag === undefined ? undefined : await findTopics(ctx, 'tag', tag);
      const dates = topics?.length === 0 ? [] : await loadNewest(ctx, topics, maxEntries);
      const ids = dates.map(({ id }) => id);
      const created = new Map((await listWholeDates(ctx, ids)).map(({ id, createdAt }) => [id, createdAt]));
      const entries = dates.flatMap((date): Entry[] => {
        const createdAt = created.get(date.id);
        return createdAt === undefined ? [] : [{ ...date, createdAt: formatTimestamp(createdAt) }];
      });
      const source = { view, providerId: getSchoolId(ctx), host: toUidHost(view.school.uidHost, ctx.settings) };
      return reply.type('application/atom+xml; charset=utf-8').send(toFeed(source, entries, tag));
    },
  });
};

type Entry = CatalogDate & { createdAt: string };
type Source = { view: View; providerId: number; host: string };

function toFeed(source: Source, dates: Entry[], tag: string | undefined) {
  const { school, texts, urls, language } = source.view;
  const query = tag === undefined ? '' : `?${new URLSearchParams({ tag }).toString()}`;
  // The newest date is the first.
  const latest = dates[0]?.createdAt ?? formatTimestamp(school.version);
  const feed = element(
    'feed',
    { xmlns: 'http://www.w3.org/2005/Atom', 'xml:lang': language },
    element('id', {}, toTagUri(source, ['dates', ...(tag === undefined ? [] : [encodeURIComponent(tag)])])),
    element('title', {}, `${texts.feeds.newDates} – ${school.title}`),
    element('updated', {}, latest),
    element('link', { rel: 'self', type: 'application/atom+xml', href: `${urls.feed}${query}` }),
    element('link', { rel: 'alternate', type: 'text/html', href: urls.start }),
    element('author', {}, element('name', {}, school.title)),
    ...dates.map((date) => toEntry(source, date)),
  );
  return toDocument(feed);
}

/** Equal wherever the school's pages are (RFC 4151). */
const toTagUri = ({ host, providerId }: Source, path: (string | number)[]) =>
  `tag:${host},2026:${[providerId, ...path].join('/')}`;

function toEntry(source: Source, date: Entry) {
  const { view } = source;
  const when = spanEnds(date, view.language).map(({ day, time }) => [day, time].filter(Boolean).join(', '));
  const price = date.price && toPriceText(view, date.price);
  const time = `${when.join(' – ')}${toZoneText(view, date)}`;
  return element(
    'entry',
    {},
    element('id', {}, toTagUri(source, ['dates', date.id])),
    element('title', {}, date.title),
    element('link', { rel: 'alternate', type: 'text/html', href: view.urls.date(date) }),
    element('published', {}, date.createdAt),
    element('updated', {}, date.createdAt),
    element('summary', {}, [time, toPlaceText(view, date), price].filter(Boolean).join('. ')),
    ...date.tags.map(({ title }) => element('category', { term: title })),
  );
}
