import { expect, test } from 'vitest';
import { bookingBody, createBookableDate } from '../../support/booking.ts';
import { createCampaign } from '../../support/orders.ts';
import { startServers } from '../../support/servers.ts';

const [bookings, maxUses] = [50, 10];

/** Concurrent bookings on two servers with a code that may be used ten times. */
async function race({ createProvider, createCaller, database }: Awaited<ReturnType<typeof startServers>>) {
  const me = await createProvider();
  const call = createCaller(me.apiKey);
  const { dateId } = await createBookableDate(me, { capacityMax: 1_000 });
  const id = await createCampaign(me, { campaignCode: 'FEW', maxUses });
  const responses = await Promise.all(
    Array.from({ length: bookings }, () => call('POST', '/v2/booking', bookingBody(dateId, { campaign_code: 'few' }))),
  );
  const { rows } = await database.pool.query<{ orders: number }>(
    'select count(*)::int as orders from orders where provider_id = $1 and campaign_id = $2',
    [me.id, id],
  );
  return {
    orders: rows[0]!.orders,
    refused: responses.filter(({ status }) => status === 400).map(({ body }) => body.errors[0].code as string),
    uses: (await call('GET', `/v2/campaigns/${id}`)).body.uses as number,
  };
}

test(`${bookings} bookings at once with a campaign for ${maxUses}, on two servers: exactly ${maxUses} orders`, async () => {
  const servers = await startServers();
  for (let round = 1; round <= 5; round += 1) {
    expect(await race(servers)).toEqual({
      orders: maxUses,
      refused: Array(bookings - maxUses).fill('campaign_code_used_up'),
      uses: maxUses,
    });
  }
});

test('negative control: without lock and queue a campaign is used more often', async () => {
  const servers = await startServers({ unlocked: true });
  let orders = 0;
  for (let round = 1; round <= 15 && orders <= maxUses; round += 1) ({ orders } = await race(servers));
  expect(orders).toBeGreaterThan(maxUses);
});
