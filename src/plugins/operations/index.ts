import { deleteWhere, old } from '../../database/housekeeping.ts';
import { definePlugin } from '../../interfaces/plugin/define-plugin.ts';
import { operationsSettings } from './settings.ts';

/** Observability: metrics, traces, the usage of each school, `doctor` and `status`. */
export const operations = definePlugin({
  name: 'operations',
  settings: operationsSettings,
  commands: [
    { names: ['doctor'], load: async () => (await import('./doctor/commands.ts')).doctorCommand },
    { names: ['status'], load: async () => (await import('./status.ts')).statusCommand },
    { names: ['usage'], load: async () => (await import('./usage/commands.ts')).usageCommand },
  ],
  housekeeping: [
    {
      table: 'provider_usage',
      days: 400,
      statement: deleteWhere('provider_usage', 'provider_id, hour', old('hour')),
    },
  ],
  docs: { pages: ['monitoring'] },
  server: async (context) => (await import('./server.ts')).openOperations(context),
});
