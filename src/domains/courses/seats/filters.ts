import { Type } from '@sinclair/typebox';
import { inArray, sql } from 'drizzle-orm';
import { t } from '../../../core/schema/types.ts';
import { courseDates, isUnderMinimum, seatsStatus } from '../../../database/tables/coursedates.ts';
import { filter } from '../../../lists/filters.ts';
import { SeatsStatus } from './schema.ts';

/** Filters of course dates by their seats. */
export const seatParameters = {
  seats_status: filter.indexed(
    t.List(SeatsStatus, { description: `Only dates of these: ${SeatsStatus.description}; all unless sent` }),
    {},
    (values) => inArray(seatsStatus(courseDates), values),
  ),
  under_minimum: filter.indexed(
    Type.Boolean({
      description:
        'true: only dates that are not canceled and have fewer confirmed participants than `capacity_min`; false: only ' +
        'others; all unless sent',
    }),
    {},
    (isUnder) => (isUnder ? isUnderMinimum(courseDates) : sql`not (${isUnderMinimum(courseDates)})`),
  ),
};
