import { defineSettings } from '../../core/config.ts';
import { days } from '../../core/config/declare.ts';

export const catalogPluginSettings = defineSettings({
  variables: {
    CATALOG_POSTS_RETENTION_DAYS: days(
      'How many days the record of a form of the catalog remains after its 24 hours',
      0,
    ),
  },
  after: { CATALOG_POSTS_RETENTION_DAYS: 'IDEMPOTENCY_RETENTION_DAYS' },
  toValues: (variables) => variables,
});
