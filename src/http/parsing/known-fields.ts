import type { TObject, TSchema } from '@sinclair/typebox';
import type { FastifySchema } from 'fastify';

type Parts = FastifySchema & { tags?: readonly string[]; body?: TObject; response?: Record<string, TSchema> };

/**
 * The names that bodies may hold: their own fields, and those of the answers under the same tag, which a client that
 * sends back an item sends as well. Any other name is likely a typing error.
 */
export function createKnownFields() {
  const answered = new Map<string, Set<string>>();
  const getTag = ({ tags }: Parts) => tags?.[0] ?? '';

  function add(schema: FastifySchema = {}) {
    const { response = {}, ...parts } = schema as Parts;
    const known = answered.get(getTag(parts)) ?? new Set();
    answered.set(getTag(parts), known);
    for (const [status, answer] of Object.entries(response)) {
      if (/^2/.test(status)) for (const name of getNames(answer)) known.add(name);
    }
  }

  function check(schema: FastifySchema = {}) {
    const parts = schema as Parts;
    const own = new Set(Object.keys(parts.body?.properties ?? {}));
    return (name: string) => own.has(name) || answered.get(getTag(parts))?.has(name) === true;
  }
  return { add, check };
}

/** The members of an answer, or of the items of one that is a list or a page. */
function getNames(answer: TSchema): string[] {
  const { properties = {}, items } = answer as { properties?: Record<string, TSchema>; items?: TSchema };
  const page = properties['items']?.['items'] as TSchema | undefined;
  return [...Object.keys(properties), ...[items, page].flatMap((item) => (item ? getNames(item) : []))];
}
