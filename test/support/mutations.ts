/**
 * Mutations of the source, each with a test that then fails: the test of the file whose title contains `title` fails
 * with a message that `says` matches, if the texts are replaced. Each has a test file of its own.
 */
export type Mutation = {
  changes: [source: string, from: string, to: string][];
  file: string;
  title: string;
  says: RegExp;
};

const coercion = 'src/http/parsing/request-coercion.ts';
const booking = 'src/domains/bookings/booking/service.ts';
const deregistrations = 'src/domains/bookings/participant-changes/deregistration-service.ts';

export const mutations: Record<string, Mutation> = {
  'a route without parameters passes on what was sent': {
    changes: [
      [coercion, ': dropAll', ': (query: Fields) => query'],
      ['src/http/auth/profiles.ts', "if (!config.queryNames?.has('include')) return;", ''],
    ],
    ...{ file: 'test/slow/property/any-parameter.test.ts', title: "'GET /v2/whoami' answers every query" },
    says: /500 to/,
  },
  'all participants are deregistered, not those named': {
    changes: [[deregistrations, 'booked.filter(({ id }) => chosenIds.has(id))', 'booked']],
    ...{ file: 'test/api/booking/deregister.test.ts', title: 'participants named by ids are deregistered alone' },
    says: /\[ 4, 4 \] to deeply equal \[ 1, 4 \]/,
  },
  'custom properties of participants are left out': {
    changes: [[booking, 'participants[n]?.custom_properties)', 'null)']],
    ...{ file: 'test/api/booking/booking.test.ts', title: 'custom properties of participants are stored: json' },
    says: /\[ null, null, null, null \] to deeply equal/,
  },
  'a category is found by its slug': {
    changes: [
      ['src/domains/courses/courses/category-service.ts', 'match.isEqual))', 'eq(categories.slug, toSlug(title))))'],
    ],
    ...{ file: 'test/api/import-export/categories.test.ts', title: 'titles have the same slug stay apart' },
    says: /\[ 'C# 1', 'C# 1', 'C# 1' \] to deeply equal/,
  },
  'unknown names are not collected': {
    changes: [['src/http/parsing/strict-handling.ts', 'ignored.add(name)', 'void name']],
    ...{ file: 'test/api/contract/written-back.test.ts', title: 'names that no input has are in X-Ignored-Parameters' },
    says: /200, '' \] to deeply equal/,
  },
  'an attached person takes the names of the body': {
    changes: [
      ['src/domains/school/admin-users/service.ts', '= person;', "= { firstname: '', lastname: '', ...body };"],
    ],
    ...{ file: 'test/slow/process/admin-names.test.ts', title: 'a membership starts with the names as first given' },
    says: /to match object \[ 200, \{ firstname: 'Kari'/,
  },
  'a school runs several tests of webhooks': {
    changes: [
      ['src/plugins/delivery/webhooks/service.ts', '${webhookTests.expiresAt} <= excluded.started_at or', 'true or'],
    ],
    ...{ file: 'test/api/webhooks/webhooks.test.ts', title: 'sub-schools run one test at a time' },
    says: /to deeply equal \[ 503, '5' \]/,
  },
  'all requests count for one provider': {
    changes: [['src/plugins/operations/usage/recorder.ts', 'count(getSchoolId(ctx),', 'count(1,']],
    ...{ file: 'test/api/operation/usage.test.ts', title: 'requests are counted by provider and hour' },
    says: /to match object \{ requests: 5/,
  },
  'the limit of a provider is not found': {
    changes: [['src/http/auth/rate-limit.ts', 'limits.get(Math.abs(tenantQueueKey)) ??', '']],
    ...{ file: 'test/api/http/rate-limit.test.ts', title: 'a limit of its own replaces that of the server' },
    says: /\[ 5, 4, 1 \] to deeply equal \[ 2, 1, 1 \]/,
  },
};
