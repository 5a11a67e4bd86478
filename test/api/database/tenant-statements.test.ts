import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import type { CollectedStatement } from '../../support/collect-statements.ts';
import { openPartitionedTables } from '../../support/partitioned-plans.ts';
import { ownDatabase } from '../../support/test-app.ts';

const plans = await openPartitionedTables(await ownDatabase(afterAll));
afterAll(plans.close);

/** Statements that name no single school for these tables, with the reason. */
const exceptions: { text: RegExp; tables: string[]; reason: string }[] = [
  { text: /from find_key\(/, tables: ['api_key_uses', 'provider_state'], reason: 'a key finds its school' },
  {
    text: /from catalog_names n join catalog_settings c/,
    tables: ['catalog_settings', 'provider_state'],
    reason: 'the name of a catalog finds its school',
  },
  {
    text: /from "providers" left join "catalog_settings"/,
    tables: ['catalog_settings'],
    reason: 'the catalogs of the schools whose ids are parameters',
  },
  {
    text: /not exists \( ?select from refused_addresses where provider_id = (providers|s)\.id /,
    tables: ['refused_addresses'],
    reason: 'the refused addresses of the school of a mail, which the statement names',
  },
  {
    text: /^update "gatherings" set .*"attendances"\."provider_id" = "gatherings"\."provider_id"/,
    tables: ['attendances', 'participants'],
    reason: 'the participants of a gathering are those of its own school, which the statement names',
  },
  {
    text: /from "partner_connections" inner join "providers"/,
    tables: ['provider_state'],
    reason: 'the clocks of the partners of a school',
  },
  {
    text: /from "locations" where .*\bunion all select from "gatherings"/,
    tables: ['course_dates', 'gatherings'],
    reason: 'a location is public by its dates and gatherings, which name its school',
  },
  {
    text: /insert into "course_dates" .*jsonb_populate_record\(.*'provider_id', \$\d+::bigint/,
    tables: ['courses', 'locations'],
    reason: 'an imported date takes values of its course and location by its own school, a parameter',
  },
  {
    text: /insert into "participants" .*jsonb_populate_record\(.*'provider_id', \$\d+::bigint/,
    tables: ['course_dates'],
    reason: 'an imported participant finds its course by its own school, a parameter',
  },
  {
    text: /^ ?(insert into payments|with imported as \(.*\) update orders set is_paid = not is_paid)/,
    tables: ['orders', 'payments', 'voucher_redemptions'],
    reason: 'what is due of an imported order is summed over rows of the school of that order',
  },
  {
    text: /^select known\.id, .* from course_users u where \(u\.provider_id, /,
    tables: ['course_users'],
    reason: 'the first rows in the order of an index from those of a school on; of others none counts as found',
  },
  {
    text: /@@ search_query\("(\w+)"\."provider_id", \$\d+\) from "\1" where \("\1"\."provider_id" = "\w+"\."provider_id"/,
    tables: ['course_users', 'courses', 'customers'],
    reason: 'a search compares each row with the texts of a related row of its school',
  },
  {
    text: /from order_lines m join order_line_participants n on n\.provider_id = m\.provider_id .* where m\.provider_id = (l|order_lines)\.provider_id /,
    tables: ['order_lines', 'order_line_participants', 'participants'],
    reason: 'the shares of a line are those of its own school, which the statement names',
  },
  {
    text: /^select "id", .* join vouchers v on v\.provider_id = r\.provider_id .* where o\.provider_id = orders\.provider_id /,
    tables: ['orders', 'voucher_redemptions', 'vouchers'],
    reason: 'the vouchers and credits of an order are those of its own school, which the statement names',
  },
  {
    text: /select max\(d\.ends_at\) from participants p join course_dates d .* where p\.provider_id = "(booking_links|bookings)"\."provider_id"/,
    tables: ['course_dates', 'participants'],
    reason: 'the dates of a link or a booking are those of its own school, which the statement names',
  },
  {
    text: /select from "attendances" where \(\("attendances"\."provider_id" = "participants"\."provider_id"/,
    tables: ['attendances'],
    reason: 'the attendances of a participant are those of its own school, which the statement names',
  },
  {
    text: /^delete from "date_notices" .* where d\.provider_id = "date_notices"\."provider_id"/,
    tables: ['course_dates', 'locations'],
    reason: 'the date of a notice is of its own school, which the statement names',
  },
  {
    text: /^select case when not "webhooks"\."is_active" /,
    tables: ['events', 'webhook_wakeups', 'webhooks'],
    reason: 'metrics count the webhooks of all schools',
  },
];
const findException = (text: string, table: string) =>
  exceptions.find((one) => one.tables.includes(table) && one.text.test(text));

/** The distinct statements of all other tests but the slow ones, of which some remove the school on purpose. */
function readCollected() {
  const folder = inject('statements');
  const texts = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  const all = texts.flatMap((text) =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as CollectedStatement),
  );
  const fast = all.filter(({ file }) => !file.startsWith('test/slow/'));
  const inOneLine = fast.map(({ text, file }) => ({ text: text.replaceAll(/\s+/g, ' '), file }));
  return [...new Map(inOneLine.map((one) => [one.text, one])).values()];
}

test.skipIf(process.env['TEST_BASE_URL'])(
  'each statement of the requests and imports of all other tests names the school for each table',
  async () => {
    const collected = readCollected();
    const found: object[] = [];
    const used = new Set<object>();
    for (const { text, file } of collected) {
      const unnamed: string[] = [];
      for (const table of await plans.findUnnamedTables(text).catch((error: unknown) => [String(error)])) {
        const exception = findException(text, table);
        if (exception) used.add(exception);
        else unnamed.push(table);
      }
      if (unnamed.length > 0) found.push({ unnamed, file, text });
    }
    expect(found).toEqual([]);
    expect(collected.length, 'too few statements: this test follows the others, in `npm test`').toBeGreaterThan(300);
    expect(exceptions.filter((one) => !used.has(one))).toEqual([]);
  },
);

const ofBooking = 'p.provider_id = b.provider_id and p.booking_id = b.id';

test.each([
  { text: 'select from tags where id = $1', tables: ['tags'] },
  { text: 'delete from tags where title = $1', tables: ['tags'] },
  {
    text: `select from bookings b join participants p on ${ofBooking} where b.id = $1`,
    tables: ['bookings', 'participants'],
  },
  {
    text: `select from bookings b where b.id = $1 and exists (select from participants p where ${ofBooking})`,
    tables: ['bookings'],
  },
  { text: 'update tags set title = $2 where provider_id <> $1', tables: ['tags'] },
])('the tables without a school are found in: $text', async ({ text, tables }) => {
  expect(await plans.findUnnamedTables(text)).toEqual(expect.arrayContaining(tables));
});

test.each([
  `select from bookings b join participants p on ${ofBooking} where b.provider_id = $2 and b.id = $1`,
  `select (select min(p.id) from participants p where ${ofBooking}) from bookings b
    where b.provider_id = any((select $1::bigint[])::bigint[])`,
  'insert into tags (provider_id, title) select provider_id, title from labels where provider_id = $1 and id = $3',
])('the school is found by a value, a list or the row outside in: %s', async (text) => {
  expect(await plans.findUnnamedTables(text)).toEqual([]);
});
