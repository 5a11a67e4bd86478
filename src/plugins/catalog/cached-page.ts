import { listRoute } from '../../http/list-cache/index.ts';

/** Route options of a page or feed that stays in memory until the school's data change, as lists do. */
export const cachedPage = listRoute.cached(() => ['catalog', 'dates']);
