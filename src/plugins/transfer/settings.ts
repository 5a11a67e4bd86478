import { Type } from '@sinclair/typebox';
import { defineSettings, isProduction } from '../../core/config.ts';
import { boolean, days } from '../../core/config/declare.ts';

export const transferSettings = defineSettings({
  variables: {
    DEMO_DATA: Type.Optional(
      boolean(
        'Load the demo data into an empty database; default true with the embedded database unless `NODE_ENV=production`, else false',
      ),
    ),
    IMPORT_REFS_RETENTION_DAYS: Type.Optional(
      days('How many days an import recognises the `ref` of an earlier one; for ever unless set', undefined, 1),
    ),
    STAGED_LINES_RETENTION_DAYS: days('How many days the lines of an import that was interrupted remain', 7, 2),
  },
  after: { DEMO_DATA: 'MIGRATE_ON_START', IMPORT_REFS_RETENTION_DAYS: 'IDEMPOTENCY_RETENTION_DAYS' },
  prefixes: ['DEMO_'],
  toValues: (variables, core) => ({
    ...variables,
    DEMO_DATA: variables.DEMO_DATA ?? (core.EMBEDDED_DATABASE && !isProduction(core)),
  }),
  toHost: ({ DEMO_DATA }) => (DEMO_DATA ? '127.0.0.1' : undefined),
});
