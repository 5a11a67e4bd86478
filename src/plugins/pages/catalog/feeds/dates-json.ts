import { Type, type Static } from '@sinclair/typebox';
import type { FastifyPluginAsync, onRequestHookHandler } from 'fastify';
import { toNumber } from '../../../../core/money.ts';
import { languages } from '../../../../core/reference/language.ts';
import { t } from '../../../../core/schema/types.ts';
import type { Services } from '../../../../http/auth/authenticate.ts';
import { listRoute } from '../../../../http/list-cache/index.ts';
import { formatV2Error, setErrorFormat } from '../../../../http/errors/error-handler.ts';
import { coerceRequests } from '../../../../http/parsing/request-coercion.ts';
import { hasTopics } from '../courses.ts';
import { openHeaders } from '../embed/script.ts';
import { applyFilter } from '../dates/filters.ts';
import { canBook, type CatalogDate } from '../dates/model.ts';
import { loadUpcoming } from '../dates/upcoming.ts';
import { cachedPage } from '../cached-page.ts';
import type { View } from '../view.ts';

const maxItems = 100;

const Query = Type.Object({
  from: Type.Optional(t.DayField()),
  to: Type.Optional(t.DayField()),
  tag: Type.Optional(t.Line({ maxLength: 200 })),
  q: Type.Optional(t.Line({ maxLength: 200 })),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxItems })),
  lang: Type.Optional(t.OneOf(languages)),
});

/** The coming dates as JSON for any site. */
export const datesJson: FastifyPluginAsync<Services> = async (app, services) => {
  const cached = cachedPage(services, { readParameters: readShown });
  setErrorFormat(app, (problem, _request, reply) => {
    reply.header('cache-control', 'no-store');
    return formatV2Error(problem);
  });
  app.addHook('onRequest', allowAnyOrigin);
  coerceRequests(app);

  app.get<{ Querystring: Static<typeof Query> }>('/dates.json', {
    ...cached,
    schema: { querystring: Query },
    handler: async (request, reply) => {
      const { view } = request.catalog;
      const ctx = listRoute.toCtx(request);
      const { from, to, tag, q, page = 1, limit = maxItems } = request.query;
      const isWithin = ({ startAt }: CatalogDate) => (!from || startAt >= from) && (!to || startAt <= to);
      const filter = { ...(tag !== undefined && { tag }), ...(q !== undefined && { q }) };
      const all = (await hasTopics(ctx, filter)) ? await loadUpcoming(ctx) : [];
      const found = applyFilter(all.filter(isWithin), filter);
      const items = found.slice((page - 1) * limit, page * limit).map((date) => toItem(view, date));
      const body = { items, next_page: page * limit < found.length ? page + 1 : null };
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(body));
    },
  });
};

/** Reads the parameters of a query as it is sent, or with its types. */
const readShown = (query: Record<string, unknown>) =>
  Object.fromEntries(
    Object.keys(Query.properties).flatMap((name) => {
      const value = query[name];
      return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [];
    }),
  );

/** Pages of other sites read it, and caches answer them for a minute. */
const allowAnyOrigin: onRequestHookHandler = (_request, reply, done) => {
  reply.headers({ ...openHeaders, 'cache-control': 'public, max-age=60, stale-while-revalidate=600' });
  done();
};

function toItem(view: View, date: CatalogDate) {
  const { id, courseId, courseTitle, title, seats, state, price, location, city, isOnline } = date;
  return {
    id,
    title,
    course: { id: courseId, title: courseTitle },
    url: view.urls.date(date),
    start_at: date.startAt,
    end_at: date.endAt,
    start_time_at: date.startTimeAt,
    end_time_at: date.endTimeAt,
    timezone: date.zone,
    place: {
      title: location?.title ?? date.placeTitle,
      address: location?.address ?? null,
      city,
      additional_info: date.placeAdditionalInfo,
      online: isOnline,
    },
    price: price && {
      value: toNumber(price.value),
      currency: price.currency,
      vat_percentage: price.vatPercentage,
    },
    seats: { status: seats.status, left: seats.free },
    status: state,
    deadline_at: date.deadlineAt,
    categories: date.categories,
    tags: date.tags,
    language: date.language,
    booking_url: toBookingUrl(view, date),
  };
}

/** Null where the page of the date has no link to book. */
const toBookingUrl = ({ urls }: View, date: CatalogDate): string | null =>
  canBook(date) ? (date.externalUrl ?? urls.booking(date)) : null;
