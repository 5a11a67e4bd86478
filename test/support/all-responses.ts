import { expect, inject, onTestFinished } from 'vitest';
import { exportLines } from '../../src/plugins/transfer/export.ts';
import { importLines, type ImportOptions } from '../../src/plugins/transfer/import.ts';
import type { Line } from '../../src/plugins/transfer/lines.ts';
import type { BadLine } from '../../src/plugins/transfer/staging.ts';
import type { Database } from '../../src/database/client.ts';
import { collectDuring } from './collect-statements.ts';
import { openTestDatabase, settings, type Provider } from './test-app.ts';

type Fields = Record<string, unknown>;

/** Imports objects as NDJSON. */
export async function importObjects(
  me: { id: number },
  objects: Iterable<Fields> | AsyncIterable<Fields>,
  options: ImportOptions = {},
  { name = inject('shared'), ...how }: { idleMs?: number; name?: string } = {},
) {
  const database = openTestDatabase(name, { poolSize: 1, ...how });
  onTestFinished(() => database.close());
  const bad: BadLine[] = [];
  async function* lines(): AsyncGenerator<Line> {
    let number = 0;
    for await (const fields of objects) yield { number: (number += 1), fields };
  }
  const summary = await collectDuring(() =>
    importLines(database, settings, me.id, lines(), { onBadLine: (one) => bad.push(one), ...options }),
  );
  return { ...summary, reasons: bad.map(({ line, reason }) => `${line}: ${reason}`) };
}

export async function exportToLines({ database }: { database: Database }, me: { id: number }) {
  const lines: Fields[] = [];
  for await (const line of exportLines(database, me.id)) lines.push(line);
  return lines;
}

const dates = 'course,course.customer,course.products,location,gatherings,place,teaching_language,status,instructors';
/** One URL of every list. */
export const listUrls = [
  '/v2/courses?limit=250&include_deleted=1&include=products',
  '/v2/courses?limit=250&description_language=no',
  '/v2/courses?limit=250&include_partners=1',
  `/v2/coursedates?limit=250&include_deleted=1&include=${dates},subinstances,bundle`,
  '/v2/coursedates?has_participants=1',
  '/v2/nextcoursedates?include=course.reference_internal,course.products',
  '/v2/locations',
  '/v2/customers?include=employees',
  '/v2/orders/products',
  '/v2/orders?user_data=1&include=lines.database_relations.course,lines.database_relations.participants,campaign,credit',
  '/v2/orders?exported=1',
  '/v2/payments',
  '/v2/participants?include=attendance,attendance_summary',
  '/v2/search-users?lastname=Hansen',
  '/v2/search-users?username=siv',
  '/v2/campaigns',
  '/v2/instructors',
  '/v2/admin-users',
  '/v2/admin-roles',
  '/v2/booking-settings',
  '/v2/catalog-settings',
  '/v2/app-users',
  '/v2/course-tags',
  '/v2/schools',
];

/** Lists with the paths of their items and the id field. */
const items: [string, string, string][] = [
  ['/v2/courses', '/v2/courses/{id}', 'id'],
  ['/v2/coursedates', '/v2/courses/{course_id}/coursedates/{id}', 'coursedate_id'],
  ['/v2/coursedates', '/v2/courses/{course_id}/coursedates', 'coursedate_id'],
  ['/v2/coursedates', '/v2/batch/coursedates?course_ids={course_id}', 'coursedate_id'],
  ['/v2/orders', '/v2/orders/{id}', 'id'],
  ['/v2/payments', '/v2/payments/{id}', 'id'],
  ['/v2/participants', '/v2/booking/{id}', 'idBooking'],
  ['/v2/campaigns', '/v2/campaigns/{id}', 'id'],
  ['/v2/vouchers', '/v2/vouchers/{id}', 'id'],
  ['/v2/participants', '/v2/participants/{id}', 'id'],
  ['/v2/customers', '/v2/customers/{id}', 'id'],
  ['/v2/customers', '/v2/customers/{id}/employees?paginate=true', 'id'],
  ['/v2/instructors', '/v2/instructors/{id}', 'id'],
];

/** Responses of every endpoint for the provider. */
export async function fetchAllResponses(me: Pick<Provider, 'get'>) {
  const responses: Record<string, unknown> = {};
  for (const url of listUrls) {
    const response = await me.get(url);
    expect(response.status, `${url} ${response.text.slice(0, 200)}`).toBe(200);
    responses[url] = response.json();
  }
  // Items by id, in list order.
  for (const [list, path, id] of items) {
    const rows = (await me.get(`${list}?limit=250`)).json<Fields[] | { items: Fields[] }>();
    for (const [n, row] of (Array.isArray(rows) ? rows : rows.items).entries())
      responses[`${path} ${n}`] = (
        await me.get(path.replace('{course_id}', String(row['course_id'])).replace('{id}', String(row[id])))
      ).json();
  }
  for (const code of ['GIFT-1', 'gone'])
    responses[`voucher ${code}`] = (await me.get(`/v2/vouchers/validate/${code}`)).json();
  const knitting = (responses['/v2/courses?limit=250&description_language=no'] as Fields[])[0]!['id'] as number;
  responses['campaign'] = (await me.get(`/v2/campaigns/validate/sun?course_id=${knitting}`)).json();
  return responses;
}
