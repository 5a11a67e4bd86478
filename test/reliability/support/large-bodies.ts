import { randomUUID } from 'node:crypto';
import type { Run } from '../scenario.ts';
import { createClient } from './client.ts';
import { requestWithLength } from './raw.ts';
import { firstKey, type Server } from './server.ts';

type Person = { firstname: string; lastname: string; email: string; products?: number[] };

/** JSON bodies just below the limits of values, named fields, and pairs of participant and product. */
export async function largeBodies(run: Run, { base }: Server) {
  const client = createClient(firstKey);
  run.onCleanup(client.close);
  const post = async (path: string, body: object) =>
    JSON.parse((await client.post(`${base}/v2/${path}`, body)).text) as Record<string, number>;
  const { course_id } = await post('courses', { title: 'Large', price_value: 100 });
  const days = { start_at: '2099-06-10', end_at: '2099-06-12', deadline_at: '2099-06-09' };
  const { coursedate_id } = await post(`courses/${course_id!}/coursedates`, days);
  const found = await client.get(`${base}/v2/courses/${course_id!}?include=products`);
  const { products } = JSON.parse(found.text) as { products: { id: number }[] };

  const persons = (count: number, products: Partial<Person>) =>
    Array.from({ length: count }, (_, n): Person => ({
      ...{ firstname: `A${n}`, lastname: 'B', email: `${randomUUID().slice(0, 8)}@a.example` },
      ...products,
    }));
  const booking = (participants: Person[]) =>
    JSON.stringify({ coursedate_id, payment_method: 'invoice', participants });
  const withOneAddress = (count: number) => persons(count, { email: `${randomUUID()}@a.example` });
  const threeProducts = { products: Array<number>(3).fill(products[0]!.id) };
  const fields = Object.fromEntries(Array.from({ length: 19_990 }, (_, n) => [`field${n}`, n]));
  const json = { 'x-api-key': firstKey, 'content-type': 'application/json' };
  const toCase = (name: string, path: string, body: () => string) => ({
    name,
    allowed: [201, 400],
    isWork: true,
    parts: () => requestWithLength('POST', path, json, body()),
  });
  return [
    toCase('19,990 fields', '/v2/courses', () => JSON.stringify(fields)),
    toCase('49,990 tags', '/v2/courses', () => JSON.stringify({ tags: Array(49_990).fill('a') })),
    toCase('49,990 values of an unknown field', '/v2/courses', () => JSON.stringify({ a: Array(49_990).fill(1) })),
    toCase('a booking of 6,600 persons with one e-mail', '/v2/booking', () => booking(withOneAddress(6_600))),
    toCase('a booking of 9,900 pairs', '/v2/booking', () => booking(persons(3_300, threeProducts))),
  ];
}
