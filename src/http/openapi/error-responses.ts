import { Problem } from '../../core/errors.ts';
import { formatCodedError, formatLegacyError, formatV2Error, type ErrorFormatter } from '../errors/error-handler.ts';
import { problemMediaType, toProblemDetails } from '../errors/problem-details.ts';
import errors from './errors.json' with { type: 'json' };
import { mapValues } from './examples.ts';
import {
  findSchema,
  type Content,
  type Declared,
  type Document,
  type Operation,
  type Response,
  type Samples,
} from './operation-types.ts';
import { invalidHeaders, requestIdHeader, toHeaders, type HeaderName, toPascalCase } from './parameters.ts';

/** Names of components, and formatters, by the schema of an interface's errors. */
const formats: Record<string, { prefix: string; format: ErrorFormatter; unauthorized?: string; hasCodes?: true }> = {
  Error: { prefix: '', format: formatV2Error, hasCodes: true },
  BookingError: { prefix: 'Booking', format: formatCodedError, hasCodes: true },
  LegacyError: { prefix: 'Legacy', format: formatLegacyError, unauthorized: 'LegacyUnauthorized' },
};

type SharedResponse = {
  name: string;
  description: string;
  headers: HeaderName[];
  samples: Samples;
};

/** Responses by status that are equal for all operations of an interface. */
const shared = errors as Record<string, SharedResponse>;

/** The sample of 400 responses without another one. */
const anyInvalid = { too_many_parameters: new Problem('invalid', 'The query has more than 300 parameters') };
const invalidLimit = { not_valid: Problem.invalidFields({ notValid: ['limit'] }) };
/** Names of 400 responses that many operations have. */
const sharedInvalid = new Map<object, string>([
  [anyInvalid, 'BadRequest'],
  [invalidLimit, 'InvalidLimit'],
]);

/** Documents every error status with samples in the format of the interface. */
export function addErrors(
  operation: Operation,
  { item, invalidSamples, forbidden }: Declared,
  document: Document,
  components: Record<string, Response>,
) {
  const declared = operation.responses['4XX'] as { content?: Content } | undefined;
  const schemaName = declared?.content?.['application/json']?.schema.$ref?.split('/').at(-1) ?? '';
  const interfaceFormat = formats[schemaName];
  if (!interfaceFormat) return;
  const isPublic = operation.security?.length === 0;
  const { format, unauthorized = schemaName } = interfaceFormat;
  const prefix = isPublic ? 'Public' : interfaceFormat.prefix;
  const hasCodes = !isPublic && interfaceFormat.hasCodes === true;
  const sampled = (
    description: string,
    samples: Record<string, Problem>,
    { headers = requestIdHeader, ref = schemaName }: { headers?: object; ref?: string } = {},
  ): Response => {
    const schema = { $ref: `#/components/schemas/${ref}` };
    const content = { 'application/json': { schema, ...toExamples(format, samples) } };
    return addCode({ description, headers, content }, samples);
  };
  const addCode = (response: Response, problems: Record<string, Problem>) =>
    hasCodes ? withCode(response, problems) : response;
  const share = (component: string, response: Response) => {
    components[component] ??= response;
    return { $ref: `#/components/responses/${component}` };
  };
  const samples = invalidSamples ?? samplesOfFields(operation, document);
  const invalid = sampled('The request is not valid', samples, { headers: invalidHeaders });
  const invalidName = sharedInvalid.get(samples);
  const notFound = (name: string) => sampled('The item does not exist', { not_found: Problem.notFound(name) });
  const own: Record<string, Response> = isPublic
    ? {}
    : {
        400: invalidName === undefined ? invalid : share(prefix + invalidName, invalid),
        ...(item !== undefined && { 404: share(`${prefix}${toPascalCase(item)}NotFound`, notFound(item)) }),
        ...('410' in operation.responses && {
          410: sampled('The cursor is not valid any more', { gone: Problem.invalidCursor() }, { ref: 'Gone' }),
        }),
      };
  for (const status of isPublic ? ['4XX'] : getShared(operation)) {
    const { name, description, headers, samples } = status === '403' ? toForbidden(forbidden) : shared[status]!;
    const ref = status === '401' ? unauthorized : schemaName;
    const problems = mapValues(samples, ({ kind, message }) => new Problem(kind, message));
    own[status] = share(`${prefix}${name}`, sampled(description, problems, { headers: toHeaders(headers), ref }));
  }
  const declaredStatuses = Object.entries(operation.responses).filter(([status]) =>
    (isPublic ? /^(2..|503)$/ : /^(2..|304|400)$/).test(status),
  );
  const all = mapValues(Object.fromEntries(declaredStatuses), (response, status) =>
    /^[45]/.test(status) ? addCode(response, samples) : response,
  );
  operation.responses = { ...own, ...all };
}

/** Documents the code of an error, and the problem details with their samples. */
function withCode(response: Response, samples: Record<string, Problem>): Response {
  if ('$ref' in response) return response;
  const { headers, content } = response;
  const schema = { $ref: '#/components/schemas/Problem' };
  const examples = toExamples((problem) => toProblemDetails(problem, 'req-1'), samples);
  return {
    ...response,
    headers: { ...toHeaders(['X-Error-Code']), ...headers },
    content: { ...content, [problemMediaType]: { schema, ...examples } },
  };
}

/** Statuses of `shared` responses. */
const getShared = ({ requestBody }: Operation) => [
  ...['401', '403'],
  ...(requestBody ? ['413', '415'] : []),
  ...['429', '4XX', '500', '503'],
];

function toForbidden(declared: Declared['forbidden']): SharedResponse {
  const byProfile = shared['403']!;
  return { ...byProfile, ...declared, samples: { ...declared?.samples, ...byProfile.samples } };
}

function samplesOfFields({ parameters = [], requestBody }: Operation, document: Document): Record<string, Problem> {
  const schema = requestBody?.content['application/json']?.schema;
  const body = (schema && findSchema(document, schema)?.required) ?? [];
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map((parameter) => parameter.name.replace('[]', ''));
  const missing = [...body, ...query];
  const hasLimit = parameters.some((parameter) => parameter.name === 'limit') && query.length === 0;
  if (missing.length > 0) return { missing: Problem.invalidFields({ missing }), ...(hasLimit && invalidLimit) };
  return hasLimit ? invalidLimit : anyInvalid;
}

const toExamples = (format: ErrorFormatter, problems: Record<string, Problem>) => ({
  examples: mapValues(problems, (problem) => ({ value: format(problem) })),
});
