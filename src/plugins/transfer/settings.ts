import { Type } from '@sinclair/typebox';
import { defineSettings, isProduction } from '../../core/config.ts';
import { boolean } from '../../core/config/declare.ts';

export const transferSettings = defineSettings({
  variables: {
    DEMO_DATA: Type.Optional(
      boolean(
        'Load the demo data into an empty database; default true with the embedded database unless `NODE_ENV=production`, else false',
      ),
    ),
  },
  after: { DEMO_DATA: 'MIGRATE_ON_START' },
  prefixes: ['DEMO_'],
  toValues: (variables, core) => ({
    ...variables,
    DEMO_DATA: variables.DEMO_DATA ?? (core.isEmbedded && !isProduction(core)),
  }),
  toHost: ({ DEMO_DATA }) => (DEMO_DATA ? '127.0.0.1' : undefined),
});
