import { limitByAddress } from '../../http/auth/address-limit.ts';
import type { Services } from '../../http/auth/authenticate.ts';
import { listRoute } from '../../http/list-cache/index.ts';

/**
 * Route options of a page or feed that stays in memory until the school's data change, as lists do. Requests that are
 * not answered from memory are counted by address.
 */
export const cachedPage = ({ countRequest }: Services) =>
  listRoute.cached(() => ['catalog', 'dates'], undefined, undefined, limitByAddress(countRequest));
