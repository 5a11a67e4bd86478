import { expect } from 'vitest';
import { write } from './orders.ts';
import type { Provider } from './test-app.ts';

let asked = 0;
/** A unique address. */
export const newAddress = () => `ida-${process.pid}-${(asked += 1)}@interest.example`;

export const askFor = (me: Provider, courseId: number, fields: Record<string, unknown> = {}) =>
  me.post(`/v2/courses/${courseId}/interests`, { email: newAddress(), ...fields });

/** Interests that are confirmed without a mail, as many as given. */
export const addInterests = (me: Provider, courseId: number, count = 1) =>
  write(me, async (tx, now) => {
    await tx.$client.query(
      `insert into course_interests (provider_id, course_id, email, created_at, confirmed_at)
        select $1, $2, 'ola-' || n || '@interest.example', $3, $3 from generate_series(1, $4::int) n`,
      [me.id, courseId, now, count],
    );
  });

type ListedInterest = {
  id: number;
  email: string;
  name: string | null;
  confirmed_at: string | null;
  notified_at: string | null;
  coursedate_id: number | null;
};

export async function listInterests(me: Provider, courseId: number, query = '') {
  const response = await me.get(`/v2/courses/${courseId}/interests${query}`);
  expect(response.status, response.text).toBe(200);
  return response.json<ListedInterest[]>();
}

/** The unsent and sent mails about interests, as `purpose address`. */
export async function interestMails(me: Provider) {
  const { rows } = await (
    await me.ctx()
  ).unlockedStore.$client.query<{ mail: string }>(
    `select concat_ws(' ', purpose, address) as mail from outbox
      where provider_id = ${me.id} and interest_id is not null order by id`,
  );
  return rows.map(({ mail }) => mail);
}
