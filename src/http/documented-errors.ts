import { Problem } from '../core/errors.ts';
import { formatBookingError, formatLegacyError, formatV2Error, type ErrorFormatter } from './errors/error-handler.ts';

type Schema = { properties?: Record<string, unknown>; required?: string[] };
type Content = { 'application/json'?: { schema: Schema; examples?: Record<string, { value: object }> } };
type Parameter = { name: string; in: string; required?: boolean };
export type Operation = {
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};

/** Item names in "not found" errors, by the first segment of the path. */
const itemNames: Record<string, string> = {
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

/** Samples of endpoints whose errors do not follow from the schema. */
const specialSamples: Record<string, Record<string, Problem>> = {
  // Has a separate response schema for its errors.
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

/** Adds sample bodies to the error responses of an operation; `name` is its method and path. */
export function addErrorSamples(name: string, operation: Operation) {
  const { responses } = operation;
  const schema = jsonContent(responses['4XX'])?.schema;
  if (!schema) return;
  const format = formatterFor(schema);
  const isLegacy = format === formatLegacyError;
  addSamples(responses['4XX'], format, {
    ...(isLegacy ? {} : { wrong_key: wrongKey }),
    ...clientErrors(name, operation),
  });
  addSamples(responses['429'], format, { too_many_requests: tooMany });
  addSamples(responses['5XX'], format, { unavailable });
}

function clientErrors(name: string, { parameters = [], requestBody }: Operation): Record<string, Problem> {
  if (specialSamples[name]) return specialSamples[name];
  const body = requestBody?.content['application/json']?.schema.required ?? [];
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name }) => name);
  const missing = [...body, ...query.map((parameter) => parameter.replace('[]', ''))];
  const [, resource = ''] = /^\w+ \/v2\/([\w-]+)/.exec(name) ?? [];
  const hasItem = parameters.some((parameter) => parameter.in === 'path') || resource === 'vouchers';
  return {
    ...(missing.length > 0 ? { missing: Problem.invalidFields({ missing }) } : {}),
    ...(parameters.some((parameter) => parameter.name === 'limit') && query.length === 0
      ? { not_valid: Problem.invalidFields({ notValid: ['limit'] }) }
      : {}),
    ...(hasItem ? { not_found: Problem.notFound(itemNames[resource]!) } : {}),
  };
}

function formatterFor({ properties = {} }: Schema): ErrorFormatter {
  if ('successful' in properties) return formatBookingError;
  return 'status' in properties ? formatLegacyError : formatV2Error;
}

const jsonContent = (response: Operation['responses'][string] | undefined) => response?.content?.['application/json'];

function addSamples(
  response: Operation['responses'][string] | undefined,
  format: ErrorFormatter,
  problems: Record<string, Problem>,
) {
  const content = jsonContent(response);
  const samples = Object.entries(problems).map(([name, problem]) => [name, { value: format(problem) }]);
  if (content && samples.length > 0) content.examples = Object.fromEntries(samples) as typeof content.examples & object;
}
