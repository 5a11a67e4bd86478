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

/** The public catalog of each school that has switched it on. */
export const catalog = definePlugin({
  name: 'catalog',
  routes: { prefix: '/catalog', repairsPaths: true, load: async () => (await import('./routes.ts')).catalogPlugin },
  async operations() {
    const { interestRoutes, catalogSettingsRoutes } = await import('./operations.ts');
    return {
      groups: [
        { prefix: '/courses/:id/interests', routes: interestRoutes },
        { prefix: '/catalog-settings', routes: catalogSettingsRoutes },
      ],
    };
  },
  docs: { pages: ['catalog', 'embed', 'accessibility'] },
  watched: async () => ({ checks: [(await import('./checks.ts')).hostCheck] }),
  housekeeping: [postsTask],
  server: async () => {
    const [{ ownHostPlugin, formatOwnHost }, { createHostNames, protectHosts }] = await Promise.all([
      import('./routes.ts'),
      import('./host-names.ts'),
    ]);
    const hostNames = createHostNames();
    return {
      observe: (app, settings) => protectHosts(app, hostNames, formatOwnHost(settings)),
      routes: (app, services) => void app.register(ownHostPlugin, { ...services, hostNames }),
    };
  },
});
