import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate, deregister, person } from '../../support/booking.ts';
import { blocksOf, type Language } from '../../support/documented-samples.ts';
import { changeDate } from '../../support/dates.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { succeeds } from '../../support/programs.ts';
import { sharedPort, sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();
const port = await sharedPort();

/** Language, extension, command, and a command that succeeds where the language is installed. */
type Program = [Language, string, string[], string];
const programs: Program[] = [
  [
    'php',
    'php',
    ['php', '-d', 'display_errors=stdout', 'invoice.php'],
    `php -r 'exit(!function_exists("curl_init"));'`,
  ],
  ['ts', 'mts', [resolve('node_modules/.bin/tsx'), 'invoice.mts'], 'true'],
  ['python', 'py', ['python3', '-B', '-W', 'error', 'invoice.py'], 'python3 --version'],
];

function writeSample(language: Language, extension: string, change = (program: string) => program) {
  const folder = temporaryFolder();
  for (const [page, file] of [
    ['docs/guides/clients.md', 'client'],
    ['docs/guides/invoicing.md', 'invoice'],
  ] as const) {
    const program = blocksOf(page, language).find((text) => text.split('\n')[0]!.includes(`${file}.${extension}`))!;
    writeFileSync(join(folder, `${file}.${extension}`), file === 'invoice' ? change(program) : program);
  }
  return folder;
}

/** Orders with each status of a participant; returns the amounts to invoice by order, and the orders to leave. */
async function createOrders(me: Provider) {
  const { dateId } = await createBookableDate(me, { course: { price_value: 500 }, capacityMax: 9, capacityWait: 9 });
  const waiting = () => person({ status_id: 3 });
  const confirmed = await bookOrFail(me, dateId);
  const withFee = await bookOrFail(me, dateId);
  const withoutFee = await bookOrFail(me, dateId);
  const one = await bookOrFail(me, dateId, { participants: [person(), person()] });
  await deregister(me, withFee.booking_id, { config: { with_fee: 1 } });
  await deregister(me, withoutFee.booking_id);
  const credited = await bookOrFail(me, dateId, { participants: [person(), person()] });
  const { id: line_id } = (await me.get(`/v2/orders/${credited.order_id}`)).json<{ lines: { id: number }[] }>()
    .lines[0]!;
  await deregister(me, credited.booking_id, { participants: [credited.participants[0]!.id] });
  const credit = await me.post(`/v2/orders/${credited.order_id}/credit`, { lines: [{ line_id, quantity: 1 }] });
  await deregister(me, one.booking_id, { participants: [one.participants[0]!.id] });
  const group = await bookOrFail(me, dateId, { participants: undefined, places: 2, booker_name: 'Kari Payer' });
  const mayMoveUp = await bookOrFail(me, dateId, { participants: [person(), waiting()] });
  const alone = await bookOrFail(me, dateId, { participants: [waiting()] });

  const offering = { capacityMax: 1, capacityWait: 1, waitingMode: 'offer' as const };
  const { dateId: offeringDate } = await createBookableDate(me, { course: { price_value: 70 }, ...offering });
  const first = await bookOrFail(me, offeringDate);
  const offered = await bookOrFail(me, offeringDate, { participants: [waiting()] });
  await deregister(me, first.booking_id);

  const { dateId: pastDate } = await createBookableDate(me, { course: { price_value: 99 }, capacityWait: 9 });
  const past = await bookOrFail(me, pastDate, { participants: [person(), waiting(), waiting()] });
  const waitedInVain = await bookOrFail(me, pastDate, { participants: [waiting()] });
  await changeDate(me, pastDate, { startAt: '2026-01-05', endAt: '2026-01-05', deadlineAt: '2026-01-05' });
  return {
    due: [
      [confirmed, '500.00'],
      [withFee, '500.00'],
      [one, '500.00'],
      [credited, '1000.00'],
      [{ order_id: String(credit.json<{ id: number }>().id) }, '-500.00'],
      [group, '1000.00'],
      [past, '99.00'],
    ].map(([summary, amount]) => `${(summary as typeof one).order_id} ${amount as string}`),
    group: group.order_id,
    past: past.order_id,
    left: [withoutFee, mayMoveUp, alone, first, offered, waitedInVain].map(({ order_id }) => Number(order_id)),
  };
}

/** Runs the program with the orders of a new provider, changed by `change`. */
async function startProgram([language, extension, [program, ...args]]: Program, change?: (text: string) => string) {
  const me = await createProvider();
  const orders = await createOrders(me);
  const cwd = writeSample(language, extension, change);
  const { PATH = '', HOME = '/' } = process.env;
  const env = { PATH, HOME, BASE_URL: `http://127.0.0.1:${port}`, KEY: me.apiKey };
  const run = async () => (await promisify(execFile)(program!, args, { cwd, env })).stdout;
  const output = await run();
  const printed = [...output.matchAll(/^(\d+) .+: (-?\d+\.\d\d) due from .*$/gm)];
  return { me, ...orders, output, invoices: printed.map(([, id, amount]) => `${id} ${amount}`), run };
}

test.for(programs)(
  'the export program in %s invoices neither waiting people nor those deregistered without fee',
  async (program, { skip }) => {
    if (!succeeds(program[3])) return skip(`${program[0]} is missing`);
    const { me, due, left, group, output, invoices, run } = await startProgram(program);
    expect(invoices).toEqual(due);
    expect(output).toMatch(new RegExp(`^${group} .+: 1000.00 due from Kari Payer$`, 'm'));
    expect(output.match(/^ {2}exported at \d{4}-/gm)).toHaveLength(due.length);
    const open = (await me.get('/v2/orders')).json<{ id: number }[]>();
    expect(open.map(({ id }) => id)).toEqual(left);
    expect(await run()).toBe('');
  },
);

test.for(programs)('the program in %s credits no more than it has invoiced', async (program, { skip }) => {
  if (!succeeds(program[3])) return skip(`${program[0]} is missing`);
  const { me, past, run } = await startProgram(program);
  const credit = await me.post(`/v2/orders/${past}/credit`, { deregister: true });
  expect(credit.status, credit.text).toBe(201);
  expect(await run()).toContain(': -99.00 due from');
  expect((await me.get(`/v2/orders/${past}`)).json()).toMatchObject({ is_paid: true });
});

/** No status has the id 0, and no hold this reason. */
const withoutStatuses = (text: string) =>
  text
    .replace(/(['"])offer\1/, '$1none$1')
    .replace(/WAITING = 3;\nconst DEREGISTERED = 4;/, 'WAITING = 0;\nconst DEREGISTERED = 0;')
    .replace('waiting, deregistered] = [3, 4]', 'waiting, deregistered] = [0, 0]')
    .replace('WAITING, DEREGISTERED = 3, 4', 'WAITING, DEREGISTERED = 0, 0');

test.for(programs)(
  'negative control: the program in %s invoices everybody if it does not look at the status',
  async (program, { skip }) => {
    if (!succeeds(program[3])) return skip(`${program[0]} is missing`);
    const { due, left, invoices } = await startProgram(program, withoutStatuses);
    expect(invoices).toHaveLength(due.length + left.length);
    expect(invoices).not.toEqual(expect.arrayContaining(due));
  },
);
