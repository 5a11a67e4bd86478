import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance, FastifySchema } from 'fastify';
import fp from 'fastify-plugin';
import swagger from '@fastify/swagger';
import type { TSchema } from '@sinclair/typebox';
import { componentDescription, componentName, findProperties } from '../../core/schema/types.ts';
import { toBasePath } from '../../core/settings.ts';
import { ProblemDetails } from '../errors/problem-details.ts';
import type { InputAliases } from '../../lists/input-aliases.ts';
import document from './document.json' with { type: 'json' };
import { documentBody, documentHeaders, documentInput } from './input-schemas.ts';
import type { Declared } from './operation-types.ts';
import { completeOperations } from './operations.ts';

const introduction = `Courses, course dates, bookings, orders and people, for the websites, CRMs and invoicing of
course providers.

Every request carries the API key in the header \`X-API-Key\`. Writes take url-encoded forms, \`multipart/form-data\` and
JSON with the same meaning. Read lists page by page with \`since_id\` and \`limit\`; the header \`Link: <…>; rel="next"\`
has the address of the next page.

Where requests are limited, every response to a valid key has the remaining requests: \`RateLimit-Limit\`,
\`RateLimit-Remaining\`, \`RateLimit-Reset\` (seconds) and \`RateLimit-Policy\`, and the same as \`X-RateLimit-*\`. A
request above the limit gets 429 with \`Retry-After\`.

A request with \`Prefer: handling=strict\` is refused with 400 for parameters and fields that the operation does not
take; else they are ignored, and named in \`X-Ignored-Parameters\`. Acts that cannot be undone, such as credits and
payments, always refuse them, and every write a \`dry_run\` that it does not take.

Every error has its code in \`X-Error-Code\`. As JSON it is one text. Clients that accept \`application/problem+json\`
rather than JSON get it as of RFC 9457, with the fields at fault in \`fields\`.

Prices of courses and products are without VAT; \`vat_percentage\` of a product comes on top. An order and its booking have
ids of their own: \`order_id\` is not \`booking_id\`. Both are texts in the answer to a booking, and numbers elsewhere.`;

type DescriptionOptions = {
  version: string;
  publicUrl: string;
  /** Where the API reference and the guides are served, if they are. */
  docsPath?: string | undefined;
  /** The section `webhooks`: the messages that the service sends. */
  messages?: object | undefined;
};

/** Generates the OpenAPI document from the validation schemas. */
export const description = fp(
  async (app: FastifyInstance, { version, publicUrl, docsPath, messages }: DescriptionOptions) => {
    const components = createComponents();
    components.visit(ProblemDetails);
    const { title, summary, license } = document.info;
    const declared = new Map<string, Declared>();
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: { title, version, summary, description: introduction, license },
        ...(docsPath !== undefined && {
          externalDocs: { description: 'Guides', url: `${publicUrl}${docsPath}/guides` },
        }),
        servers: [{ url: toBasePath(publicUrl) || '/', description: 'This server' }],
        components: { ...document.components } as never,
        security: [{ apiKey: [] }],
        tags: document.tags,
        ...(messages && { webhooks: components.visit(messages) as never }),
      },
      transform({ schema, url, route }) {
        if (schema.hide) return { schema, url };
        const { hasEtag, hasSpreadsheet, idempotency, inputAliases } = route.config ?? {};
        const isRepeatable = idempotency !== undefined && route.method === 'POST';
        declared.set(schema.operationId ?? '', { ...schema, hasSpreadsheet, isRepeatable });
        const documented = components.toReferences(documentMaximum(toDocumentedSchema(schema)));
        if (inputAliases) documented.description = `${documented.description} ${describeInputAliases(inputAliases)}`;
        return { schema: hasEtag ? withNotModified(documented) : documented, url };
      },
      transformObject(generated) {
        if ('swaggerObject' in generated) return generated.swaggerObject;
        return completeOperations(components.addTo(generated.openapiObject), declared);
      },
    });
  },
);

const withNotModified = (schema: FastifySchema): FastifySchema => ({
  ...schema,
  response: { ...(schema.response as object), 304: { type: 'null' } },
});

function describeInputAliases(forms: InputAliases) {
  const paths = Object.values(forms).flatMap((ofInput) => ofInput.map((form) => [form].flat()[0] as string));
  const names = new Set(paths.map((path) => `\`${path.split('.')[0]}\``));
  return `Fields that are not sent are taken from members as they are read: ${[...names].join(', ')}.`;
}

/** Documents the schema before coercion, with all body types; names list parameters with brackets, as clients send them. */
function toDocumentedSchema(schema: FastifySchema): FastifySchema {
  const { querystring, body, headers, profiles, ...rest } = schema as FastifySchema & {
    querystring?: TSchema;
  };
  return {
    ...rest,
    ...(profiles && { 'x-key-profiles': profiles }),
    ...(querystring ? { querystring: withBrackets(querystring, rest.params as TSchema | undefined) } : {}),
    ...(headers ? { headers: documentHeaders(headers as TSchema) } : {}),
    ...(body
      ? {
          body: documentBody(body as TSchema),
          consumes: ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
        }
      : {}),
  };
}

/** The largest integer of JavaScript is no limit for a client. */
function documentMaximum<V>(value: V): V {
  if (Array.isArray(value)) return value.map(documentMaximum) as V;
  if (typeof value !== 'object' || value === null) return value;
  const children = Object.entries(value).map(([key, child]) => [key, documentMaximum(child as unknown)]);
  // The spread copies the symbols.
  const schema = { ...value, ...Object.fromEntries(children) } as V & { maximum?: unknown };
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  return schema;
}

/** Names list parameters with brackets, and leaves out those that are in the path. */
function withBrackets(query: TSchema, path?: TSchema): TSchema {
  const parameters = findProperties(query);
  const bracketed = (name: string) => (parameters[name]!['type'] === 'array' ? `${name}[]` : name);
  const inPath = findProperties(path);
  const documented = Object.entries(findProperties(documentInput(query))).filter(([name]) => !(name in inPath));
  return {
    ...query,
    properties: Object.fromEntries(documented.map(([name, property]) => [bracketed(name), property])),
    required: ((query['required'] as string[] | undefined) ?? []).map(bracketed),
  };
}

type Node = Record<string | symbol, unknown>;

/** Keywords whose values are data. */
const dataKeywords = new Set(['default', 'enum', 'const', 'examples', 'required', 'type']);

/** Stands for `$ref` until the document is generated: @fastify/swagger removes keywords beside `$ref`. */
const reference = 'x-component';

/** Replaces named schemas by references in the OpenAPI document; validation and serialization have none. */
function createComponents() {
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

/** Splits the use of a named schema into its component and a reference with its description, default and `null`. */
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
