import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate, persons } from '../../support/booking.ts';
import { forced, queuedMails, switchMails } from '../../support/mail.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

/** A booking of two, with a receipt that was sent or waits, or without one. */
async function booked(receipt: 'sent' | 'waiting' | 'none', isSwitchedOn: boolean) {
  const me = await createProvider();
  await switchMails(me, { deregistration: isSwitchedOn });
  const { dateId } = await createBookableDate(me);
  const config = { send_receipt_email_to_participant: receipt !== 'none' };
  const { order_id, participants } = await bookOrFail(me, dateId, { participants: persons(2), config });
  if (receipt === 'sent') await forced(me, `update outbox set sent_at = now() where provider_id = ${me.id}`);
  const { lines } = (await me.get(`/v2/orders/${order_id}`)).json<{ lines: { id: number }[] }>();
  const before = (await queuedMails(me)).length;
  const ids = participants.map(({ id }) => id);
  const credit = async (body: object) => {
    const { status } = await me.post(`/v2/orders/${order_id}/credit`, body);
    return [status, (await queuedMails(me)).slice(before)];
  };
  return { ids, credit, named: { lines: [{ line_id: lines[0]!.id, participants: [ids[1]] }], deregister: true } };
}

test.each([0, 200])(
  'a credit with the fee %d sends the mail deregistration to a person with a receipt',
  async (fee) => {
    const { ids, credit, named } = await booked('sent', false);
    expect(await credit({ ...named, fee, dry_run: true })).toEqual([200, []]);
    expect(await credit({ ...named, deregister: false, fee: 1 })).toEqual([201, []]);
    expect(await credit({ deregister: true, fee })).toEqual([201, ids.map((id) => `deregistration ${id}`)]);
  },
);

test('a credit tells those whom it deregisters where the school has switched that on', async () => {
  const { ids, credit, named } = await booked('none', true);
  expect(await credit({ ...named, dry_run: true })).toEqual([200, []]);
  expect(await credit(named)).toEqual([201, [`deregistration ${ids[1]}`]]);
});

test.each(['none', 'waiting'] as const)(
  'with the switch off and the receipt %s, a credit sends no mail',
  async (receipt) => {
    const { credit } = await booked(receipt, false);
    expect(await credit({ deregister: true })).toEqual([201, []]);
  },
);
