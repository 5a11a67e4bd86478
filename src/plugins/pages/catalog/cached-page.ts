import type { FastifyRequest } from 'fastify';
import { countMore, limitByAddress } from '../../../http/auth/address-limit.ts';
import type { Services } from '../../../http/auth/authenticate.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import type { ItemRoute } from './item-route.ts';

/** The parameters that a page depends on, beside `lang`; it ignores others. */
type ReadParameters = (query: Record<string, unknown>) => Record<string, string>;
declare module 'fastify' {
  interface FastifyContextConfig {
    readParameters?: ReadParameters;
  }
}

type Options = {
  readParameters?: ReadParameters;
  /** Defaults to the item as it is in the path, since a page redirects from others. */
  toItem?: (request: FastifyRequest) => unknown;
  /** Requests that a cache miss counts as. */
  weight?: number;
};
const getItem = ({ params }: FastifyRequest) => (params as Partial<ItemRoute['Params']>).item;

/** Options of a route that stays in memory until the data change; other requests are counted by address. */
export function cachedPage(
  { countRequest }: Services,
  { readParameters = () => ({}), toItem = getItem, weight = 5 }: Options = {},
) {
  const identify = (request: FastifyRequest) => {
    const { paths, hasPersonalPages } = request.catalog.view;
    const parameters = readParameters(request.query as Record<string, unknown>);
    return [toItem(request), paths.lang, hasPersonalPages, parameters];
  };
  const limits = [limitByAddress(countRequest), countMore(countRequest, weight - 1)] as const;
  const route = listRoute.document(() => ['catalog', 'dates'], identify, ...limits);
  return { ...route, config: { ...route.config, readParameters } };
}
