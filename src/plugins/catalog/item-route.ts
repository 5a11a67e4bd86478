import type { FastifyRequest } from 'fastify';
import { Problem } from '../../core/errors.ts';

/** The route of a course or a date: `item` is `<slug>-<id>`. */
export type ItemRoute = { Params: { item: string } };

/** The id at the end of `<slug>-<id>`; throws not_found without one. */
export function readId({ params }: FastifyRequest<ItemRoute>): number {
  const [, id] = /(?:^|-)(\d{1,15})$/.exec(params.item) ?? [];
  if (id === undefined) throw Problem.notFound('Page');
  return Number(id);
}

const toPathname = (url: string) => url.split('?', 1)[0]!;

/** False for another slug, or other upper case; a path that a proxy has stripped is no difference. */
export const isAt = ({ url }: Pick<FastifyRequest, 'url'>, path: string) => toPathname(path).endsWith(toPathname(url));
