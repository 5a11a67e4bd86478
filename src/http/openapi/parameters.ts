import document from './document.json' with { type: 'json' };
import type { CompleteOperation, Document, Operation, Parameter } from './operation-types.ts';
import headers from './request-headers.json' with { type: 'json' };

const path = '#/components/parameters/';

/** Replaces parameters that several operations have by references; returns the components by name. */
export function shareParameters(operations: Operation[], schemas: object = {}): Record<string, Parameter> {
  const components: Record<string, Parameter> = {};
  const names = new Map<string, string>();
  for (const [key, [first, ...others]] of findUses(operations)) {
    if (others.length === 0) continue;
    const parameter = JSON.parse(key) as Parameter;
    const named = nameComponent(parameter);
    // Generated clients have one namespace for schemas and parameters.
    const ownName = named in schemas ? `${named}Parameter` : named;
    const name = ownName in components ? `${ownName}In${toPascalCase(first!)}` : ownName;
    if (name in components) throw new Error(`Two different parameters are named ${name}`);
    components[name] = parameter;
    names.set(key, name);
  }
  for (const operation of operations as CompleteOperation[])
    operation.parameters &&= operation.parameters.map((parameter) => {
      const name = names.get(JSON.stringify(parameter));
      return name === undefined ? parameter : { $ref: path + name };
    });
  return components;
}

/** Ids of the operations that have a parameter, by its JSON. */
function findUses(operations: Operation[]) {
  const uses = new Map<string, string[]>();
  for (const { operationId = '', parameters = [] } of operations)
    for (const key of parameters.map((one) => JSON.stringify(one)))
      uses.set(key, [...(uses.get(key) ?? []), operationId]);
  return uses;
}

/** The name of the parameter, a path's id by its item, and `include` by its schema: `IdOfCourse`, `OrderIncludeList`. */
function nameComponent({ name, in: place, description = '', explode, schema }: Parameter) {
  const isId = place === 'path' && name === 'id';
  const ownName = toPascalCase(isId ? description.replace(' the ', ' ') : name);
  if (!explode) return ownName;
  const [, schemaName = ''] = /schemas\/(\w+)"/.exec(JSON.stringify(schema)) ?? [];
  return (schemaName.endsWith(ownName) ? schemaName : ownName) + 'List';
}

export const toPascalCase = (text: string) =>
  text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9]?)/g, (_, letter: string) => letter.toUpperCase());

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
