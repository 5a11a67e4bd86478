import type { FastifyInstance, HTTPMethods } from 'fastify';
import { Problem } from '../../core/errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on routes that respond 405. */
    isMethodNotAllowed?: true;
  }
}

/** Records the routes added from now on; the returned function adds 405 with `Allow` for their other methods. */
export function methodNotAllowed(app: FastifyInstance) {
  const supported = app.supportedMethods as HTTPMethods[];
  const routes = new Map<string, { plugin: FastifyInstance; methods: Set<string>; isPublic: boolean }>();

  app.addHook('onRoute', function (this: FastifyInstance, { url, method, config, schema }) {
    if (config?.isMethodNotAllowed) return;
    const { methods = new Set<string>(), isPublic = false } = routes.get(url) ?? {};
    routes.set(url, {
      plugin: this,
      methods: new Set([...methods, ...[method].flat()]),
      isPublic: isPublic || (schema?.profiles?.includes('publishable') ?? false),
    });
  });

  return function addMethodNotAllowed() {
    for (const [url, { plugin, methods, isPublic }] of routes) {
      const allow = supported.filter((method) => methods.has(method)).join(', ');
      plugin.route({
        url: url.slice(plugin.prefix.length),
        method: supported.filter((method) => !methods.has(method)),
        schema: { hide: true },
        config: { isMethodNotAllowed: true, ...(isPublic && { hasPublicGet: true }) },
        preParsing: async (_request, reply) => {
          reply.header('allow', allow);
          throw new Problem('method_not_allowed', `This path takes ${allow}`);
        },
        handler: async () => undefined,
      });
    }
  };
}
