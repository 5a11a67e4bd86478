import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { componentDescription, componentName } from '../../schema/types.ts';

type Node = Record<string | symbol, unknown>;

/** Keywords whose values are data. */
const dataKeywords = new Set(['default', 'enum', 'const', 'examples', 'required', 'type']);

/** Stands for `$ref` where a description or default is beside it, which @fastify/swagger would remove. */
const keptReference = 'x-component';

/** Replaces each `keptReference`. */
export function restoreReferences(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const node = value as Node;
  const name = node[keptReference];
  if (typeof name === 'string') {
    Reflect.deleteProperty(node, keptReference);
    node['$ref'] = `#/components/schemas/${name}`;
  }
  for (const child of Object.values(node)) restoreReferences(child);
}

/**
 * Replaces named schemas by references, and adds each to `app` as a shared schema, which becomes a component of the
 * OpenAPI document. Validation and serialization work on the schemas without references.
 */
export function createComponents(app: FastifyInstance) {
  const components = new Map<string, Node>();
  // Later than all routes: each plugin would copy the shared schemas and compile them.
  app.addHook('onReady', async () => {
    for (const [name, schema] of components) app.addSchema({ ...schema, $id: name });
  });

  function add(name: string, schema: Node) {
    const known = components.get(name) ?? schema;
    if (!isDeepStrictEqual(known, schema)) throw new Error(`Two different schemas are named ${name}`);
    components.set(name, known);
  }

  /**
   * Adds the component and returns a reference to it: with `null` as an alternative for a nullable schema, with
   * `keptReference` for a description or default of this use, or else a plain reference.
   */
  function toReference(name: string, node: Node, ownDescription: unknown) {
    const types = [node['type']].flat();
    const { description: described, default: defaultValue, ...schema } = node;
    const isNullable = types.length > 1 && types.includes('null');
    if (isNullable) {
      const [type, ...others] = types.filter((type) => type !== 'null');
      schema['type'] = others.length > 0 ? [type, ...others] : type;
    }
    if (Array.isArray(schema['enum'])) schema['enum'] = schema['enum'].filter((code) => code !== null);
    if (ownDescription !== undefined) schema['description'] = ownDescription;
    const description = described === ownDescription ? undefined : described;
    add(name, schema);
    const keywords = {
      ...(description === undefined ? {} : { description }),
      ...(defaultValue === undefined ? {} : { default: defaultValue }),
    };
    const canBePlainReference = isNullable || Object.keys(keywords).length === 0;
    const reference = canBePlainReference ? { $ref: `${name}#` } : { [keptReference]: name };
    return isNullable ? { anyOf: [reference, { type: 'null' }], ...keywords } : { ...reference, ...keywords };
  }

  function visit(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const node = value as Node;
    const entries = Object.entries(node).map(([key, child]) => [
      key,
      key === 'properties'
        ? Object.fromEntries(Object.entries(child as object).map(([name, property]) => [name, visit(property)]))
        : dataKeywords.has(key)
          ? child
          : visit(child),
    ]);
    const schema = Object.fromEntries(entries) as Node;
    const name = node[componentName] as string | undefined;
    return name === undefined ? schema : toReference(name, schema, node[componentDescription]);
  }

  /** The route's schema with references. */
  const toReferences = (schema: FastifySchema): FastifySchema => ({
    ...schema,
    ...Object.fromEntries(
      (['body', 'querystring', 'params', 'response'] as const)
        .filter((part) => schema[part] !== undefined)
        .map((part) => [part, visit(schema[part])]),
    ),
  });
  return { toReferences };
}
