import { invalidFields, notFound, Problem } from '../core/errors.ts';
import { formatBookingError, formatLegacyError, formatV2Error, type ErrorFormatter } from './errors/error-handler.ts';

type Schema = { properties?: Record<string, unknown>; required?: string[] };
type Content = { 'application/json'?: { schema: Schema; examples?: Record<string, { value: object }> } };
type Parameter = { name: string; in: string; required?: boolean };
export type Operation = {
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};

/** Named by the last resource of a path. */
const nouns: Record<string, string> = {
  booking: 'Booking',
  courses: 'Course',
  customers: 'Customer',
  'course-users': 'Course user',
  instructors: 'Instructor',
  locations: 'Location',
  orders: 'Order',
  participants: 'Participant',
  vouchers: 'Voucher',
};

/** Error samples of endpoints that the schema cannot give. */
const special: Record<string, Record<string, Problem>> = {
  // Its faults have a response of their own.
  'POST /v2/admin-users': {},
  'POST /v2/booking': {
    no_seats_available: new Problem('invalid', 'Participant 1: no seat is available', {
      faults: [{ code: 'no_seats_available', message: 'Participant 1: no seat is available' }],
    }),
  },
  'GET /v2/search-users': {
    missing: new Problem('invalid', 'Missing field(s): email, firstname, lastname or username'),
  },
  ...Object.fromEntries(
    ['GET /v2/campaigns/validate', 'GET /v2/campaigns/validate/{code}'].map((name) => [
      name,
      {
        missing: new Problem('invalid', 'coursedate_id or course_id is missing', {
          faults: [{ code: 'missing_course_id', message: 'coursedate_id or course_id is missing' }],
        }),
      },
    ]),
  ),
};

const wrongKey = new Problem('unauthenticated', 'Wrong API Key');
const tooMany = new Problem('too_many_requests', 'Too many requests');
const unavailable = new Problem('unavailable', 'The service is busy or its database out of reach (request req-1)');

/** Adds to each response for an error samples that the endpoint answers. */
export function addErrorSamples(name: string, healthRoutes: Operation) {
  const { responses } = healthRoutes;
  const schema = jsonOf(responses['4XX'])?.schema;
  if (!schema) return;
  const word = wordingFor(schema);
  const isOlder = word === formatLegacyError;
  add(responses['4XX'], word, { ...(isOlder ? {} : { wrong_key: wrongKey }), ...refusalsOf(name, healthRoutes) });
  add(responses['429'], word, { too_many_requests: tooMany });
  add(responses['5XX'], word, { unavailable });
}

function refusalsOf(name: string, { parameters = [], requestBody }: Operation): Record<string, Problem> {
  if (special[name]) return special[name];
  const body = requestBody?.content['application/json']?.schema.required ?? [];
  const query = parameters.filter((one) => one.in === 'query' && one.required).map((one) => one.name);
  const missing = [...body, ...query.map((one) => one.replace('[]', ''))];
  const [, resource = ''] = /^\w+ \/v2\/([\w-]+)/.exec(name) ?? [];
  const isNamed = parameters.some((one) => one.in === 'path') || resource === 'vouchers';
  return {
    ...(missing.length > 0 ? { missing: invalidFields({ missing }) } : {}),
    ...(parameters.some((one) => one.name === 'limit') && query.length === 0
      ? { not_valid: invalidFields({ notValid: ['limit'] }) }
      : {}),
    ...(isNamed ? { not_found: notFound(nouns[resource]!) } : {}),
  };
}

function wordingFor({ properties = {} }: Schema): ErrorFormatter {
  if ('successful' in properties) return formatBookingError;
  return 'status' in properties ? formatLegacyError : formatV2Error;
}

const jsonOf = (response: Operation['responses'][string] | undefined) => response?.content?.['application/json'];

function add(
  response: Operation['responses'][string] | undefined,
  word: ErrorFormatter,
  problems: Record<string, Problem>,
) {
  const content = jsonOf(response);
  const samples = Object.entries(problems).map(([name, problem]) => [name, { value: word(problem) }]);
  if (content && samples.length > 0) content.examples = Object.fromEntries(samples) as typeof content.examples & object;
}
