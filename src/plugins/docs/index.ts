import { definePlugin } from '../../interfaces/plugin/define-plugin.ts';

/** The API reference and the guides of docs/. */
export const docs = definePlugin({
  name: 'docs',
  welcome: (address) => [`  Try it in the browser: ${address}/docs`],
  routes: { load: async () => (await import('./routes.ts')).docsRoutes },
});
