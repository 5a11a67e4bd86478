import type { FastifyHelmetOptions } from '@fastify/helmet';

/** Options of helmet: no resources of other hosts; `directives` adds page-specific sources. */
export function securityHeaders(publicUrl: string, directives: Record<string, string[]>): FastifyHelmetOptions {
  const isHttps = publicUrl.startsWith('https:');
  return {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        // An empty icon, so that browsers request no /favicon.ico.
        imgSrc: ["'self'", 'data:'],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
        ...directives,
      },
    },
    // Over plain HTTP, browsers ignore both and report an error.
    crossOriginOpenerPolicy: isHttps,
    originAgentCluster: isHttps,
    referrerPolicy: { policy: 'no-referrer' },
    // Set for every response.
    strictTransportSecurity: false,
    xFrameOptions: { action: 'deny' },
  };
}
