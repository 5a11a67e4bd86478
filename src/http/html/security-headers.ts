/** For pages with forms: no scripts, no resources but style sheets of the same origin, no frames, no referrer. */
export const securityHeaders = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      styleSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  referrerPolicy: { policy: 'no-referrer' as const },
  // Set for every response.
  strictTransportSecurity: false,
  xFrameOptions: { action: 'deny' as const },
};
