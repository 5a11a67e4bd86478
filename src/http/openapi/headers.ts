import document from './document.json' with { type: 'json' };
import headers from './request-headers.json' with { type: 'json' };
import type { Document, Operation, Parameter } from './operation-types.ts';

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

/** The headers that have an effect on an operation. */
export function requestHeaders({ responses, security }: Operation, { components }: Document): Parameter[] {
  const { Prefer, 'If-None-Match': ifNoneMatch, 'Accept-Language': acceptLanguage } = headers.parameters;
  const isPublic = security?.length === 0;
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  return [
    ...(isPublic ? [] : [Prefer]),
    ...(responses['304'] ? [ifNoneMatch] : []),
    ...(isPublic || !hasLabels(successes, components?.schemas ?? {}) ? [] : [acceptLanguage]),
  ];
}

/** True if a schema that the value refers to has titles in the language of the request. */
function hasLabels(value: unknown, schemas: Record<string, unknown>, seen = new Set<string>()): boolean {
  const found = [...JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name!);
  const names = found.filter((name) => !seen.has(name));
  for (const name of names) seen.add(name);
  return names.some((name) => headers.labelled.includes(name) || hasLabels(schemas[name], schemas, seen));
}
