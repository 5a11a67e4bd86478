import type { FastifyRequest } from 'fastify';
import { itemAt, Problem } from '../../../core/errors.ts';

/** The route of a course or a date: `item` is `<slug>-<id>`. */
export type ItemRoute = { Params: { item: string } };

/** The id at the end of `<slug>-<id>`. */
export function findId({ params }: FastifyRequest): number | undefined {
  const [, id] = /(?:^|-)(\d{1,15})$/.exec((params as Partial<ItemRoute['Params']>).item ?? '') ?? [];
  return id === undefined ? undefined : Number(id);
}

/** Throws not_found without an id. */
export const readId = (request: FastifyRequest<ItemRoute>): number =>
  Problem.assertFound(findId(request as FastifyRequest), 'Page');

const toPathname = (url: string) => itemAt(url.split('?', 1));

/** False for another slug, or other upper case; a path that a proxy has stripped is no difference. */
export const isAt = ({ url }: Pick<FastifyRequest, 'url'>, path: string) => toPathname(path).endsWith(toPathname(url));
