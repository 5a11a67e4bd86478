import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { componentDescription, componentName } from '../../schema/types.ts';

type Node = Record<string | symbol, unknown>;

/** Keywords whose values are data. */
const dataKeywords = new Set(['default', 'enum', 'const', 'examples', 'required', 'type']);

/** Replaces `$ref` where a description or default is beside it, which @fastify/swagger would remove. */
const annotatedReference = 'x-component';

/** Turns each `annotatedReference` into `$ref`. */
export function restoreReferences(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const node = value as Node;
  const name = node[annotatedReference];
  if (typeof name === 'string') {
    Reflect.deleteProperty(node, annotatedReference);
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
    if (name === undefined) return schema;
    const { reference, component } = splitReference(name, schema, node[componentDescription]);
    add(name, component);
    return reference;
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

/**
 * Splits the use of a named schema into its component and a reference: with `null` as an alternative for a nullable
 * schema, with `annotatedReference` for a description or default of this use, or else a plain reference.
 */
function splitReference(name: string, node: Node, ownDescription: unknown) {
  const types = [node['type']].flat();
  const { description: described, default: defaultValue, ...component } = node;
  const isNullable = types.length > 1 && types.includes('null');
  if (isNullable) {
    const [type, ...others] = types.filter((type) => type !== 'null');
    component['type'] = others.length > 0 ? [type, ...others] : type;
  }
  if (Array.isArray(component['enum'])) component['enum'] = component['enum'].filter((code) => code !== null);
  if (ownDescription !== undefined) component['description'] = ownDescription;
  const description = described === ownDescription ? undefined : described;
  const keywords = {
    ...(description === undefined ? {} : { description }),
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
  };
  const canBePlainReference = isNullable || Object.keys(keywords).length === 0;
  const reference = canBePlainReference ? { $ref: `${name}#` } : { [annotatedReference]: name };
  return {
    component,
    reference: isNullable ? { anyOf: [reference, { type: 'null' }], ...keywords } : { ...reference, ...keywords },
  };
}
