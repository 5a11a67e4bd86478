import { definePlugin } from '../../interfaces/plugin/define-plugin.ts';

/** The course users' own pages. */
export const pages = definePlugin({
  name: 'pages',
  routes: { prefix: '/my', repairsPaths: true, load: async () => (await import('./my.tsx')).personalPagesPlugin },
  docs: { pages: ['pages'] },
});
