import { isDeepStrictEqual } from 'node:util';
import type { FastifySchema } from 'fastify';
import { componentDescription, componentName } from '../../core/schema/types.ts';

type Node = Record<string | symbol, unknown>;

/** Keywords whose values are data. */
const dataKeywords = new Set(['default', 'enum', 'const', 'examples', 'required', 'type']);

/** Stands for `$ref` until the document is generated: @fastify/swagger removes keywords beside `$ref`. */
const reference = 'x-component';

/**
 * Replaces named schemas by references while the OpenAPI document is generated. Validation and serialization work on the
 * schemas without references.
 */
export function createComponents() {
  const components = new Map<string, Node>();

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
    const { use, component } = splitUse(name, schema, node[componentDescription]);
    add(name, component);
    return use;
  }

  return {
    /** Any part of the document with references. */
    visit,
    /** The route's schema with references. */
    toReferences: (schema: FastifySchema): FastifySchema => ({
      ...schema,
      ...Object.fromEntries(
        (['body', 'querystring', 'params', 'response'] as const)
          .filter((part) => schema[part] !== undefined)
          .map((part) => [part, visit(schema[part])]),
      ),
    }),
    /** Adds the components to the generated document, and turns each reference into `$ref`. */
    addTo<D extends { components?: object }>(document: D): D {
      document.components = { ...document.components, schemas: Object.fromEntries(components) };
      restoreReferences(document);
      return document;
    },
  };
}

function restoreReferences(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const node = value as Node;
  const name = node[reference];
  if (typeof name === 'string') {
    Reflect.deleteProperty(node, reference);
    node['$ref'] = `#/components/schemas/${name}`;
  }
  for (const child of Object.values(node)) restoreReferences(child);
}

/**
 * Splits the use of a named schema into its component and a reference with the description and default of this use; a
 * nullable use has `null` as an alternative.
 */
function splitUse(name: string, node: Node, ownDescription: unknown) {
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
  const toComponent = { [reference]: name };
  return {
    component,
    use: { ...(isNullable ? { anyOf: [toComponent, { type: 'null' }] } : toComponent), ...keywords },
  };
}
