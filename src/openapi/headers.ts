import document from './document.json' with { type: 'json' };
import type { Operation } from './operation-types.ts';

export type HeaderName = keyof typeof document.components.headers;

/** References to the headers of document.json. */
export const toHeaders = (names: HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

export const requestIdHeader = toHeaders(['X-Request-Id']);
export const retryHeaders = toHeaders(['Retry-After', 'X-Request-Id']);
export const invalidHeaders = toHeaders(['Preference-Applied', 'X-Ignored-Parameters', 'X-Request-Id']);
export const notModifiedHeaders = toHeaders(['ETag', 'X-Request-Id']);

/** The headers of a successful response. */
export function successHeaders({ parameters = [], responses, security }: Operation, declared: readonly HeaderName[]) {
  const isPublic = security?.length === 0;
  const hasParameter = (name: string) => parameters.some((parameter) => parameter.name === name);
  return toHeaders([
    ...(responses['304'] ? ['ETag' as const] : []),
    ...(hasParameter('page') ? ['Link' as const, 'X-Page-Truncated' as const] : []),
    ...(hasParameter('updated_at_min') ? ['X-Updated-Through' as const] : []),
    ...declared,
    ...(isPublic ? [] : ['Preference-Applied' as const, 'X-Ignored-Parameters' as const]),
    'X-Request-Id',
  ]);
}
