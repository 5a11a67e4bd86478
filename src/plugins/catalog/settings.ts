import { defineSettings } from '../../core/config.ts';
import { days } from '../../core/config/declare.ts';

export const catalogPluginSettings = defineSettings({
  variables: {
    CATALOG_POSTS_RETENTION_DAYS: days(
      'Days that form bookings are stored after the 24 hours that the limits of the booking form count',
      0,
    ),
  },
  after: { CATALOG_POSTS_RETENTION_DAYS: 'IDEMPOTENCY_RETENTION_DAYS' },
  toValues: (variables) => variables,
});
