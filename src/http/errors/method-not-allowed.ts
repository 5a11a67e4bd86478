import type { FastifyInstance, HTTPMethods } from 'fastify';
import { Problem } from '../../core/errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route only says that its method is not allowed. */
    unauthorizedError?: true;
  }
}

/**
 * Notes the routes that are mounted from here on; the function it returns, called after the last of them, answers 405
 * with `Allow` where a path is known but not with that method, each in the words of the plugin whose path it is.
 */
export function methodNotAllowed(app: FastifyInstance) {
  const all = app.supportedMethods as HTTPMethods[];
  const known = new Map<string, { plugin: FastifyInstance; methods: Set<string> }>();

  app.addHook('onRoute', function (this: FastifyInstance, { url, method, config }) {
    if (config?.unauthorizedError) return;
    const { methods = new Set<string>() } = known.get(url) ?? {};
    known.set(url, { plugin: this, methods: new Set([...methods, ...[method].flat()]) });
  });

  return function refuseOtherMethods() {
    for (const [url, { plugin, methods }] of known) {
      const allow = all.filter((method) => methods.has(method)).join(', ');
      plugin.route({
        url: url.slice(plugin.prefix.length),
        method: all.filter((method) => !methods.has(method)),
        schema: { hide: true },
        config: { unauthorizedError: true },
        preParsing: async (_request, reply) => {
          reply.header('allow', allow);
          throw new Problem('method_not_allowed', `This path takes ${allow}`);
        },
        handler: async () => undefined,
      });
    }
  };
}
