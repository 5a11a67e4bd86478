import { definePlugin } from '../../interfaces/plugin/define-plugin.ts';

/** The public catalog of each school that has switched it on. */
export const catalog = definePlugin({
  name: 'catalog',
  routes: { prefix: '/catalog', repairsPaths: true, load: async () => (await import('./routes.ts')).catalogPlugin },
  docs: { pages: ['catalog', 'embed'] },
  server: async () => {
    const { ownHostPlugin } = await import('./routes.ts');
    return { routes: (app, services) => void app.register(ownHostPlugin, services) };
  },
});
