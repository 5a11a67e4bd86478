import type { Pool } from 'pg';
import { usernameHashSql } from '../../src/database/tables/access.ts';
import { book, createBookableDate, getSummary } from './booking.ts';
import { newestEvent } from './changes.ts';
import { createCustomer, write } from './orders.ts';
import type { Provider } from './test-app.ts';

/** Every value of the planted person contains it. */
export const planted = 'zylvaquist';

export const person = {
  firstname: `First ${planted}`,
  lastname: `Last ${planted}`,
  email: `mail@${planted}.example`,
};
const text = (name: string) => `${name} ${planted}`;
const addressOf = (name: string) => ({
  [`${name}_address_1`]: text(`${name} street`),
  [`${name}_address_2`]: text(`${name} house`),
  [`${name}_address_3`]: text(`${name} door`),
  [`${name}_zipcode`]: text(`${name} zip`),
  [`${name}_city`]: text(`${name} city`),
});

const bookingFields = {
  booker_name: `First ${planted} Last ${planted}`,
  booker_email: person.email,
  booker_phone: text('phone'),
  company: text('company'),
  company_number: text('number'),
  invoice_reference: text('reference'),
  gln_number: text('gln'),
  ...addressOf('invoice'),
  invoice_email: person.email,
  participants: [
    {
      ...person,
      phone: text('phone'),
      company: text('company'),
      position: text('position'),
      date_of_birth: '1980-02-03',
      comment: text('comment'),
      custom_properties: { allergies: text('nuts') },
    },
  ],
  config: { send_receipt_email_to_participant: 1 },
};

const userFields = {
  phone: text('phone'),
  company: text('company'),
  position: text('position'),
  date_of_birth: '1980-02-03',
  username: `user-${planted}`,
  orgnr: text('orgnr'),
  department: text('department'),
  legaldepartment: text('legal'),
  ...addressOf('home'),
  ...addressOf('work'),
  ...addressOf('invoice'),
  invoice_phone: text('phone'),
  external_id: text('external'),
  company_employee_number: text('employee'),
  custom_properties: { shoe: text('size') },
};

/** A person with values in every place, on a date of its own. */
export async function plantPerson(me: Provider, pool: Pick<Pool, 'query'>) {
  const { courseId, dateId } = await createBookableDate(me);
  const key = { 'idempotency-key': `user-${planted}` };
  const created = await me.post('/v2/course-users', { ...person, phone: text('phone') }, key);
  if (created.status !== 201) throw new Error(created.text);
  const summary = getSummary(await book(me, dateId, bookingFields, { 'idempotency-key': `key-${planted}` }));
  const [{ id }] = (await me.get(`/v2/course-users?email=${person.email}`)).json<[{ id: number }]>();
  const updated = await me.put(`/v2/course-users/${id}`, userFields);
  if (updated.status !== 200) throw new Error(updated.text);
  const customer = await createCustomer(me, {
    ...{ title: `First ${planted} Last ${planted}`, type: 2, email: person.email, note: text('note') },
    ...{ invoiceAddress: text('customer street'), customProperties: { a: text('b') } },
  });
  const times = "now(), now(), now() + interval '1 day'";
  await pool.query(
    `insert into sessions (provider_id, hash, user_id, created_at, used_at, expires_at) values ($1, $2, $3, ${times})`,
    [me.id, `session-${planted}-${me.id}`, id],
  );
  await pool.query(
    `insert into tokens (provider_id, hash, purpose, user_id, created_at, expires_at)
      values ($1, $2, 'sign_in', $3, now(), now() + interval '1 day')`,
    [me.id, `token-${planted}-${me.id}`, id],
  );
  await pool.query(
    `insert into sign_on_failures (provider_id, username_hash, window_started_at, failures)
      values ($1, ${usernameHashSql('$2')}, now(), 1)`,
    [me.id, userFields.username],
  );
  await write(me, (tx) =>
    tx.execute(`update course_users set password_hash = 'hash-${planted}' where provider_id = ${me.id} and id = ${id}`),
  );
  const places = summary.participants.map((one) => one.id);
  await write(me, (tx) =>
    tx.execute(`insert into import_refs (provider_id, kind, ref, item_id, content) values
      (${me.id}, 'user', 'ref-${planted}', ${id}, 'c'), (${me.id}, 'participant', 'p-${planted}', ${places[0]}, 'd'),
      (${me.id}, 'order', 'o-${planted}', ${summary.order_id}, 'e')`),
  );
  await write(me, (tx) =>
    tx.execute(`insert into catalog_posts (provider_id, key_hash, booking_id, address_hash, recipients, places, created_at)
      values (${me.id}, 'key', ${summary.booking_id}, 'address-${planted}', '{recipient-${planted}}', 1, now())`),
  );
  await write(me, (tx) =>
    tx.execute(`insert into course_interests (provider_id, course_id, email, name, link_hash, created_at)
      values (${me.id}, ${courseId}, '${person.email}', 'name ${planted}', 'link-${planted}', now())`),
  );
  return { id, customer, courseId, dateId, summary, cursor: await newestEvent(me) };
}

/** The tables of a database in which a row has the planted word, with the columns. */
export async function findPlanted(pool: Pick<Pool, 'query'>, providerId?: number) {
  const { rows: tables } = await pool.query<{ table: string; hasProvider: boolean }>(`
    select t.table_name as table, exists (select from information_schema.columns c where c.table_schema = 'public'
      and c.table_name = t.table_name and c.column_name = 'provider_id') as "hasProvider"
    from information_schema.tables t where t.table_schema = 'public' order by 1`);
  const found: string[] = [];
  for (const { table, hasProvider } of tables) {
    const own = providerId !== undefined && hasProvider ? `provider_id = ${providerId} and` : '';
    const { rows } = await pool.query<{ column: string }>(
      `select distinct key as column from "${table}" t, jsonb_each_text(to_jsonb(t))
        where ${own} value ilike '%${planted}%' order by 1`,
    );
    found.push(...rows.map(({ column }) => `${table}.${column}`));
  }
  return found;
}
