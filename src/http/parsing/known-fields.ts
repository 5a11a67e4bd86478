import type { TObject, TSchema } from '@sinclair/typebox';
import type { FastifySchema } from 'fastify';

type RouteSchema = FastifySchema & { tags?: readonly string[]; body?: TObject; response?: Record<string, TSchema> };

/**
 * Collects the field names that a body may contain: those of its schema, and those of responses with the same tag, since
 * clients send items back. Other names are reported as ignored.
 */
export function createKnownFields() {
  const responseFields = new Map<string, Set<string>>();
  const getTag = ({ tags }: RouteSchema) => tags?.[0] ?? '';

  function add(schema: FastifySchema = {}) {
    const { response = {}, ...route } = schema as RouteSchema;
    const known = responseFields.get(getTag(route)) ?? new Set();
    responseFields.set(getTag(route), known);
    for (const [status, body] of Object.entries(response)) {
      if (/^2/.test(status)) for (const name of getNames(body)) known.add(name);
    }
  }

  function check(schema: FastifySchema = {}) {
    const route = schema as RouteSchema;
    const bodyFields = new Set(Object.keys(route.body?.properties ?? {}));
    return (name: string) => bodyFields.has(name) || responseFields.get(getTag(route))?.has(name) === true;
  }
  return { add, check };
}

/** Properties of a response, and of its items if it is a list or a page. */
function getNames(response: TSchema): string[] {
  const { properties = {}, items } = response as { properties?: Record<string, TSchema>; items?: TSchema };
  const page = properties['items']?.['items'] as TSchema | undefined;
  return [...Object.keys(properties), ...[items, page].flatMap((item) => (item ? getNames(item) : []))];
}
