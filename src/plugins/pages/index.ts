import { deleteWhere, type Task } from '../../database/housekeeping.ts';
import { definePlugin } from '../../interfaces/plugin/define-plugin.ts';

const postsTask: Task = {
  table: 'catalog_posts',
  days: 0,
  statement: deleteWhere(
    'catalog_posts',
    'provider_id, key_hash',
    `created_at < now() - interval '24 hours' - $1 * interval '1 day'`,
  ),
};

/** The course users' own pages, and the public catalog of each school that has switched it on. */
export const pages = definePlugin({
  name: 'pages',
  routes: [
    { prefix: '/my', repairsPaths: true, load: async () => (await import('./my/routes.ts')).personalPagesPlugin },
    { prefix: '/catalog', repairsPaths: true, load: async () => (await import('./catalog/routes.tsx')).catalogPlugin },
  ],
  async operations() {
    const { interestRoutes, catalogSettingsRoutes } = await import('./catalog/operations.ts');
    return {
      groups: [
        { prefix: '/courses/:id/interests', routes: interestRoutes },
        { prefix: '/catalog-settings', routes: catalogSettingsRoutes },
      ],
    };
  },
  docs: { pages: ['pages', 'catalog', 'embed', 'accessibility'] },
  watched: async () => ({ checks: [(await import('./catalog/checks.ts')).hostCheck] }),
  housekeeping: [postsTask],
  server: async () => {
    const [{ ownHostPlugin, formatOwnHost }, { createHostNames, protectHosts }] = await Promise.all([
      import('./catalog/routes.tsx'),
      import('./catalog/host-names.ts'),
    ]);
    const hostNames = createHostNames();
    return {
      observe: (app, settings) => protectHosts(app, hostNames, formatOwnHost(settings)),
      routes: (app, services) => void app.register(ownHostPlugin, { ...services, hostNames }),
    };
  },
});
