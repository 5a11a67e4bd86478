import { defineSettings } from '../../core/config.ts';
import { days } from '../../core/config/declare.ts';

export const catalogPluginSettings = defineSettings({
  variables: {
    CATALOG_POSTS_RETENTION_DAYS: days(
      'How many days what the limits of the booking form count remains after its 24 hours, without effect',
      0,
    ),
  },
  after: { CATALOG_POSTS_RETENTION_DAYS: 'IDEMPOTENCY_RETENTION_DAYS' },
  toValues: (variables) => variables,
});
