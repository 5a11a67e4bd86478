import { defineTask, deleteWhere } from '../../database/housekeeping.ts';
import { definePlugin } from '../../interfaces/plugin/define-plugin.ts';
import { pagesSettings } from './settings.ts';

const isOld = `created_at < now() - interval '24 hours' - :days * interval '1 day'`;
const postsTask = defineTask('catalog_posts', 0, deleteWhere('catalog_posts', 'provider_id, key_hash', isOld));

/** The course users' own pages, and the public catalog of each school that has switched it on. */
export const pages = definePlugin({
  name: 'pages',
  settings: pagesSettings,
  routes(config) {
    const { PERSONAL_PAGES: hasPersonalPages } = config.of(pagesSettings);
    const loadPersonal = async () => (await import('./my/routes.ts')).personalPagesPlugin;
    const loadCatalog = async () => (await import('./catalog/routes.tsx')).createCatalogPlugin(hasPersonalPages);
    return [
      ...(hasPersonalPages ? [{ prefix: '/my', repairsPaths: true as const, load: loadPersonal }] : []),
      { prefix: '/catalog', repairsPaths: true, load: loadCatalog },
    ];
  },
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
  server: async ({ config }) => {
    const { PERSONAL_PAGES: hasPersonalPages } = config.of(pagesSettings);
    const [{ ownHostPlugin, formatOwnHost }, { createHostNames, protectHosts }] = await Promise.all([
      import('./catalog/routes.tsx'),
      import('./catalog/host-names.ts'),
    ]);
    const hostNames = createHostNames();
    return {
      observe: (app, settings) => protectHosts(app, hostNames, formatOwnHost(settings)),
      routes: (app, services) => void app.register(ownHostPlugin, { ...services, hostNames, hasPersonalPages }),
    };
  },
});
