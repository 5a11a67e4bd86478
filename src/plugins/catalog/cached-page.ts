import type { FastifyRequest } from 'fastify';
import { chargeAddress, limitByAddress } from '../../http/auth/address-limit.ts';
import type { Services } from '../../http/auth/authenticate.ts';
import { listRoute } from '../../http/list-cache/index.ts';
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
  /** By default the item as it is in the path, since a page redirects from others. */
  toItem?: (request: FastifyRequest) => unknown;
  cost?: number;
};
const getItem = ({ params }: FastifyRequest) => (params as Partial<ItemRoute['Params']>).item;

/**
 * Route options of a page or feed that stays in memory until the school's data change, as lists do. Requests that are
 * not answered from memory are counted by address, one that computes the response as `cost`.
 */
export function cachedPage(
  { countRequest }: Services,
  { readParameters = () => ({}), toItem = getItem, cost = 5 }: Options = {},
) {
  const identify = (request: FastifyRequest) => [
    toItem(request),
    request.catalog.view.paths.lang,
    readParameters(request.query as Record<string, unknown>),
  ];
  const [admit, charge] = [limitByAddress(countRequest), chargeAddress(countRequest, cost - 1)];
  const route = listRoute.document({ areas: ['catalog', 'dates'], identify, admit, charge });
  return { ...route, config: { ...route.config, readParameters } };
}
