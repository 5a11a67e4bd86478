import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import type { courseDates } from '../../../database/tables/coursedates.ts';
import { relation } from '../../../lists/relations.ts';
import { fetchOpenOffers } from './loaders.ts';
import { waitingModes } from './schema.ts';

/** How free places go to the waiting list of a date. */
const WaitingList = t.NamedObject(
  'WaitingList',
  t.member.closed.all({
    mode: t.OneOf([...waitingModes, ''], { description: 'As sent; empty for a date of a partner' }),
    offer_hours: Type.Integer(),
    open_offers: Type.Integer({ description: 'Each holds a seat and keeps its place on the waiting list' }),
  }),
);

type DateRow = Pick<typeof courseDates.$inferSelect, 'providerId' | 'id' | 'waitingMode' | 'offerHours'>;

const loadOpenOffers = relation.hasOne(fetchOpenOffers, ({ open }) => open, 0);

export const includeWaitingList = relation.include(
  t.member.closed(WaitingList),
  async (ctx, rows: DateRow[], query) => {
    const getOpenOffers = await loadOpenOffers(ctx, rows, query);
    return (row) => ({ mode: row.waitingMode, offer_hours: row.offerHours, open_offers: getOpenOffers(row) });
  },
);
