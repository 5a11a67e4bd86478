import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifySchema } from 'fastify';
import fp from 'fastify-plugin';
import type { TSchema } from '@sinclair/typebox';
import { addErrorSamples, type Operation } from '../documented-errors.ts';
import { documentInput } from './input-schemas.ts';
import { limitByAddress, type CountRequest } from '../auth/address-limit.ts';

const description = `Courses, schools and what belongs to them, for the websites, CRMs and invoicing of course providers.

Every request carries the API key in the header \`X-API-Key\`. Writes take url-encoded forms, \`multipart/form-data\` and
JSON, all meaning the same. Lists are walked with \`since_id\` and \`limit\`; the header \`Link: <…>; rel="next"\` names
the next page.

Where requests are limited, every answer to a right key says how many may follow: \`RateLimit-Limit\`,
\`RateLimit-Remaining\`, \`RateLimit-Reset\` (seconds) and \`RateLimit-Policy\`, and the same as \`X-RateLimit-*\`. One
too many is answered 429 with \`Retry-After\`.`;

const seconds = (description: string) => ({ description, schema: { type: 'integer' as const } });
/** What a 429 says beside its text; of a provider's limit all of it, of other limits when to come again. */
const limitHeaders = {
  'Retry-After': seconds('Seconds after which the same request may succeed'),
  'RateLimit-Limit': seconds('How many requests may come at once'),
  'RateLimit-Remaining': seconds('How many of them are left'),
  'RateLimit-Reset': seconds('Seconds until all of them are there again'),
  'RateLimit-Policy': {
    description: 'So many requests in so many seconds: `40;w=2`',
    schema: { type: 'string' as const },
  },
};

type DocsOptions = { version: string; publicUrl: string; countRequest: CountRequest };

/** The path below which a proxy serves this server: it removes that from each request's path. */
export const toBasePath = (publicUrl: string) => new URL(publicUrl).pathname.replace(/\/$/, '');

/** Generates the OpenAPI document from the schemas that validate, and serves its page at /docs. */
export const docs = fp(async (app: FastifyInstance, { version, publicUrl, countRequest }: DocsOptions) => {
  const basePath = toBasePath(publicUrl);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Course Booking Service', version, description },
      servers: [{ url: basePath || '/' }],
      components: {
        securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
        headers: limitHeaders,
      },
      security: [{ key: [] }],
      tags: [
        { name: 'Courses' },
        { name: 'Course dates' },
        { name: 'Instructors' },
        { name: 'School' },
        { name: 'Booking' },
        { name: 'Orders' },
        { name: 'People' },
        { name: 'Older interface' },
        { name: 'Operation' },
      ],
    },
    transform: ({ schema, url }) => ({ schema: documented(schema), url }),
    transformObject: (whole) => ('openapiObject' in whole ? limited(whole.openapiObject) : whole.swaggerObject),
  });
  await app.register(async (scope) => {
    scope.addHook('preParsing', limitByAddress(countRequest));
    redirectToDocument(scope, `${basePath}/openapi.json`);
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      indexPrefix: basePath,
      staticCSP: true,
      // A page that is read over plain http on a test machine must not be asked to upgrade.
      transformStaticCSP: (header) => header.replace('upgrade-insecure-requests;', ''),
      theme: {
        title: 'Course Booking Service',
        css: [{ filename: 'theme.css', content: '.swagger-ui .topbar { display: none }' }],
      },
      uiConfig: {
        persistAuthorization: true,
        tryItOutEnabled: true,
        docExpansion: 'list',
        defaultModelsExpandDepth: -1,
      },
    });
  });
});

/** The page's own copies of the document, which it would write anew for each request, lead to the one address. */
function redirectToDocument(scope: FastifyInstance, address: string) {
  scope.addHook('onRoute', (route) => {
    if (route.url !== '/docs/json' && route.url !== '/docs/yaml') return;
    route.handler = (_request, reply) => reply.redirect(address, 308);
  });
}

/** As far as it is needed here: the paths, their operations by method. */
type Paths = Record<string, Record<string, Operation>>;

/** Whatever asks for a key can be asked too often: 429, worded as every other refusal there. */
function limited<D extends { paths?: object }>(document: D): D {
  const headers = Object.fromEntries(
    Object.keys(limitHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
  for (const [path, methods] of Object.entries((document.paths ?? {}) as Paths)) {
    for (const [method, healthRoutes] of Object.entries(methods)) {
      const { responses } = healthRoutes;
      const unauthorizedError = responses['4XX'];
      if (unauthorizedError)
        Object.assign(responses, {
          429: { ...structuredClone(unauthorizedError), description: 'Too many requests', headers },
        });
      addErrorSamples(`${method.toUpperCase()} ${path}`, healthRoutes);
    }
  }
  return document;
}

/**
 * Writes take three dialects, JSON first: of that the page shows the example, of forms a word for each field. List parameters are
 * named with brackets, as clients send them.
 */
function documented(schema: FastifySchema): FastifySchema {
  if (schema.hide) return schema;
  const { querystring, body, ...rest } = schema as FastifySchema & { querystring?: TSchema };
  return {
    ...rest,
    ...(querystring ? { querystring: withBrackets(querystring) } : {}),
    ...(body
      ? {
          body: documentInput(body as TSchema),
          consumes: ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
        }
      : {}),
  };
}

function withBrackets(query: TSchema): TSchema {
  const input = query['properties'] as Record<string, TSchema>;
  const bracketed = (name: string) => (input[name]!['type'] === 'array' ? `${name}[]` : name);
  const read = Object.entries(documentInput(query)['properties'] as Record<string, TSchema>);
  return {
    ...query,
    properties: Object.fromEntries(read.map(([name, property]) => [bracketed(name), property])),
    required: ((query['required'] as string[] | undefined) ?? []).map(bracketed),
  };
}
