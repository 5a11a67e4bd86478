import { Problem } from '../core/errors.ts';
import {
  formatBookingError,
  formatLegacyError,
  formatV2Error,
  type ErrorFormatter,
} from '../http/errors/error-handler.ts';
import {
  invalidHeaders,
  requestIdHeader,
  retryHeaders,
  tooManyRequestsHeaders,
  unauthorizedHeaders,
} from './headers.ts';
import {
  findSchema,
  type Content,
  type Declared,
  type Document,
  type Operation,
  type Response,
} from './operation-types.ts';

/** Names of components, and formatters, by the schema of an interface's errors. */
const formats: Record<string, { prefix: string; format: ErrorFormatter; unauthorized?: string }> = {
  Error: { prefix: '', format: formatV2Error },
  BookingError: { prefix: 'Booking', format: formatBookingError },
  LegacyError: { prefix: 'Legacy', format: formatLegacyError, unauthorized: 'LegacyUnauthorized' },
};

type SharedResponse = {
  name: string;
  description: string;
  headers?: object;
  samples: Record<string, Problem>;
};

const profileSample = { profile: new Problem('forbidden', 'A key with the profile publishable may not do this') };

/** Responses that are equal for all operations of an interface. */
const shared: Record<string, SharedResponse> = {
  401: {
    name: 'Unauthorized',
    description: 'The API key is missing or invalid',
    headers: unauthorizedHeaders,
    samples: { wrong_key: new Problem('unauthenticated', 'Wrong API Key') },
  },
  403: {
    name: 'Forbidden',
    description: 'The profile of the key does not allow it',
    samples: profileSample,
  },
  413: {
    name: 'BodyTooLarge',
    description: 'The body is too large',
    samples: { too_large: new Problem('too_large', 'The body is too large') },
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is not a form, multipart or JSON',
    samples: {
      unsupported_media_type: new Problem(
        'unsupported_media_type',
        'The Content-Type is not supported; send a form, multipart or JSON',
      ),
    },
  },
  429: {
    name: 'TooManyRequests',
    description: 'Too many requests',
    headers: tooManyRequestsHeaders,
    samples: { too_many_requests: new Problem('too_many_requests', 'Too many requests') },
  },
  '4XX': {
    name: 'ClientError',
    description: 'Another client error, such as 408 or 431',
    samples: { headers_too_large: new Problem('headers_too_large', 'There are more than 100 headers') },
  },
  500: {
    name: 'InternalError',
    description: 'An error of the service; report the request id',
    samples: { internal: new Problem('internal', 'Something went wrong (request req-1)') },
  },
  503: {
    name: 'Unavailable',
    description: 'The service is busy or its database unavailable; retry later',
    headers: retryHeaders,
    samples: {
      unavailable: new Problem('unavailable', 'The service is busy or its database out of reach (request req-1)'),
    },
  },
};

/** The 403 of operations that list partners' items. */
const partnerForbidden: SharedResponse = {
  name: 'PartnerForbidden',
  description: 'The partner is not approved, or the profile of the key does not allow it',
  samples: {
    forbidden: new Problem('forbidden', 'The partner connection is not approved'),
    ...profileSample,
  },
};

/** The sample of 400 responses without another one. */
const anyInvalid = {
  too_many_parameters: new Problem('invalid', 'The query has more than 300 parameters'),
};

/** Documents every error status with samples in the format of the interface. */
export function addErrors(
  operation: Operation,
  { item, invalidSamples }: Declared,
  document: Document,
  components: Record<string, Response>,
) {
  const declared = operation.responses['4XX'] as { content?: Content } | undefined;
  const schemaName = declared?.content?.['application/json']?.schema.$ref?.split('/').at(-1) ?? '';
  const interfaceFormat = formats[schemaName];
  if (!interfaceFormat) return;
  const { prefix, format, unauthorized = schemaName } = interfaceFormat;
  const sampled = (
    description: string,
    samples: Record<string, Problem>,
    { headers = requestIdHeader, ref = schemaName }: { headers?: object; ref?: string } = {},
  ): Response => ({
    description,
    headers,
    content: {
      'application/json': { schema: { $ref: `#/components/schemas/${ref}` }, ...toExamples(format, samples) },
    },
  });
  const isPublic = operation.security?.length === 0;
  const own: Record<string, Response> = isPublic
    ? {}
    : {
        400: sampled('The request is not valid', invalidSamples ?? samplesOfFields(operation, document), {
          headers: invalidHeaders,
        }),
        ...(item === undefined
          ? {}
          : { 404: sampled('The item does not exist', { not_found: Problem.notFound(item) }) }),
        ...('410' in operation.responses && {
          410: sampled('The cursor is not valid any more', { gone: Problem.invalidCursor() }, { ref: 'Gone' }),
        }),
      };
  for (const [status, response] of isPublic ? publicResponses : sharedResponses(operation)) {
    const { name: responseName, description, headers, samples } = response;
    const component = `${prefix}${responseName}`;
    const ref = status === '401' ? unauthorized : schemaName;
    components[component] ??= sampled(description, samples, { ...(headers ? { headers } : {}), ref });
    own[status] = { $ref: `#/components/responses/${component}` };
  }
  const declaredStatuses = Object.entries(operation.responses).filter(([status]) =>
    (isPublic ? /^(2..|503)$/ : /^(2..|304|400)$/).test(status),
  );
  operation.responses = { ...own, ...Object.fromEntries(declaredStatuses) };
}

function sharedResponses({ parameters = [], requestBody }: Operation) {
  const isPartnerQuery = parameters.some(({ name }) => name === 'include_partners');
  const statuses = ['401', '403', ...(requestBody ? ['413', '415'] : []), ...['429', '4XX', '500', '503']];
  return statuses.map(
    (status) => [status, status === '403' && isPartnerQuery ? partnerForbidden : shared[status]!] as const,
  );
}

const publicResponses = [['4XX', shared['4XX']!] as const];

function samplesOfFields({ parameters = [], requestBody }: Operation, document: Document): Record<string, Problem> {
  const schema = requestBody?.content['application/json']?.schema;
  const body = (schema && findSchema(document, schema)?.required) ?? [];
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map((parameter) => parameter.name.replace('[]', ''));
  const missing = [...body, ...query];
  const samples = {
    ...(missing.length > 0 ? { missing: Problem.invalidFields({ missing }) } : {}),
    ...(parameters.some((parameter) => parameter.name === 'limit') && query.length === 0
      ? { not_valid: Problem.invalidFields({ notValid: ['limit'] }) }
      : {}),
  };
  return Object.keys(samples).length > 0 ? samples : anyInvalid;
}

function toExamples(format: ErrorFormatter, problems: Record<string, Problem>) {
  const examples = Object.entries(problems).map(([name, problem]) => [name, { value: format(problem) }] as const);
  return examples.length > 0 ? { examples: Object.fromEntries(examples) } : {};
}
