import { defineTask, deleteWhere, old } from '../../database/housekeeping.ts';
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
  housekeeping: [defineTask('provider_usage', 400, deleteWhere('provider_usage', 'provider_id, hour', old('hour')))],
  async watched() {
    const { standbyCheck, standbyMetrics } = await import('./standby.ts');
    return { checks: [standbyCheck], metrics: [standbyMetrics] };
  },
  docs: { pages: ['monitoring'] },
  server: async (context) => {
    const [{ openOperations }, { standbyJobs }] = await Promise.all([
      import('./server.ts'),
      import('../../database/standby/check.ts'),
    ]);
    return openOperations(context, standbyJobs(context.database.standby, context.log));
  },
});
