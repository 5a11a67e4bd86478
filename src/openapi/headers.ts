import type { Declared, Operation } from './operation-types.ts';

const text = (description: string) => ({ description, schema: { type: 'string' as const } });
const integer = (description: string) => ({ description, schema: { type: 'integer' as const } });

/** Headers of a 429. Limits per address send only Retry-After. */
const limitHeaders = {
  'Retry-After': integer('Seconds until the same request may succeed'),
  'RateLimit-Limit': integer('Requests that may be sent at once'),
  'RateLimit-Remaining': integer('Requests that may still be sent now'),
  'RateLimit-Reset': integer('Seconds until the full limit is available again'),
  'RateLimit-Policy': text('Requests and the seconds in which they are restored: `40;w=2`'),
};

/** Response headers as components of the document. */
export const headerComponents = {
  ...limitHeaders,
  'WWW-Authenticate': text('The header that carries the key: `ApiKey header="X-API-Key"`'),
  'X-Ignored-Parameters': text('Unknown parameters and fields of the request, at most ten: `tag_id, titel`'),
  'X-Warning': text('A risk of what was stored: messages with personal data to a webhook over plain http'),
  'X-Request-Id': text('The id of the request in the log; the `X-Request-Id` of the request if it sent one'),
  ETag: text('The version of the list, for `If-None-Match`; absent for lists with partners'),
  Link: text('The next page, absent on the last one: `<…>; rel="next"`'),
  'X-Updated-Through': text('Sent with `updated_at_min`: the `updated_at_min` of the next sync'),
  'X-Page-Truncated': text('Sent if the page ends early because of its size: `items=120`'),
};
type HeaderName = keyof typeof headerComponents;

const references = (names: HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

export const requestIdHeader = references(['X-Request-Id']);
export const tooManyRequestsHeaders = references([...(Object.keys(limitHeaders) as HeaderName[]), 'X-Request-Id']);
export const retryHeaders = references(['Retry-After', 'X-Request-Id']);
export const unauthorizedHeaders = references(['WWW-Authenticate', 'X-Request-Id']);
export const invalidHeaders = references(['X-Ignored-Parameters', 'X-Request-Id']);
export const notModifiedHeaders = references(['ETag', 'X-Request-Id']);

/** The headers of a successful response. */
export function successHeaders(
  { parameters = [], responses, security }: Operation,
  declared: Declared['responseHeaders'] = [],
) {
  const isPublic = security?.length === 0;
  const hasParameter = (name: string) => parameters.some((parameter) => parameter.name === name);
  return references([
    ...(responses['304'] ? ['ETag' as const] : []),
    ...(hasParameter('page') ? ['Link' as const, 'X-Page-Truncated' as const] : []),
    ...(hasParameter('updated_at_min') ? ['X-Updated-Through' as const] : []),
    ...declared,
    ...(isPublic ? [] : ['X-Ignored-Parameters' as const]),
    'X-Request-Id',
  ]);
}
