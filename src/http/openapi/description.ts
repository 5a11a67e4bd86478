import { toBasePath } from '../../core/settings.ts';
import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import fp from 'fastify-plugin';
import type { TSchema } from '@sinclair/typebox';
import { ProblemDetails } from '../errors/problem-details.ts';
import type { ReadForms } from '../parsing/read-forms.ts';
import { createComponents } from './components.ts';
import document from './document.json' with { type: 'json' };
import { completeOperations } from './operations.ts';
import type { Declared } from './operation-types.ts';
import { documentBody, documentHeaders, documentInput } from './input-schemas.ts';

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
        const { hasEtag, hasSpreadsheet, idempotency, readForms } = route.config ?? {};
        const isRepeatable = idempotency !== undefined && route.method === 'POST';
        declared.set(schema.operationId ?? '', { ...schema, hasSpreadsheet, isRepeatable });
        const documented = components.toReferences(documentMaximum(toDocumentedSchema(schema)));
        if (readForms) documented.description = `${documented.description} ${describeReadForms(readForms)}`;
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

function describeReadForms(forms: ReadForms) {
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

/** Without those that are in the path, too. */
function withBrackets(query: TSchema, path?: TSchema): TSchema {
  const parameters = query['properties'] as Record<string, TSchema>;
  const bracketed = (name: string) => (parameters[name]!['type'] === 'array' ? `${name}[]` : name);
  const inPath = (path?.['properties'] ?? {}) as Record<string, TSchema>;
  const documented = Object.entries(documentInput(query)['properties'] as Record<string, TSchema>).filter(
    ([name]) => !(name in inPath),
  );
  return {
    ...query,
    properties: Object.fromEntries(documented.map(([name, property]) => [bracketed(name), property])),
    required: ((query['required'] as string[] | undefined) ?? []).map(bracketed),
  };
}
