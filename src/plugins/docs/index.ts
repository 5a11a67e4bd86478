import { definePlugin } from '../../interfaces/plugin/define-plugin.ts';

/** The pages that are about no other plugin. */
const pages = [
  ...['getting-started', 'clients', 'keys', 'booking-safely', 'booking-page', 'cancel-with-a-refund', 'invoicing'],
  ...['sync', 'changes', 'rate-limits-and-caching', 'typed-clients'],
  ...['partners', 'personal-data', 'single-sign-on', 'moving-from-the-older-interface'],
  ...['operating', 'runbooks', 'own-host', 'upgrade', 'kubernetes', 'point-in-time-recovery', 'run-a-cluster'],
  ...['security', 'endpoints', 'endpoints-catalog', 'endpoints-booking', 'endpoints-people', 'endpoints-school'],
  ...['requests', 'lists', 'errors', 'codes', 'configuration', 'command-line', 'data-model', 'CHANGELOG'],
  ...['architecture', 'consistency', 'performance', 'performance-design', 'measurements', 'scaling', 'reliability'],
  ...['participant-states', 'libraries', 'contributing'],
];

/** The API reference and the guides of docs/. */
export const docs = definePlugin({
  name: 'docs',
  routes: () => [{ load: async () => (await import('./routes.ts')).docsRoutes }],
  docs: { pages, path: '/docs' },
});
