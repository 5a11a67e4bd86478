import { createHmac } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Ctx } from '../../../database/context.ts';
import { loadServiceSecret } from '../../../database/service-state.ts';
import { limitByAddress, toAddressKey } from '../../../http/auth/address-limit.ts';
import type { Services } from '../../../http/auth/authenticate.ts';
import { readField, redirectToHttps, rejectCrossSite } from '../forms.ts';
import { getRoute } from '../../../http/route-name.ts';
import { createContext } from '../../../domains/school/schools/service.ts';

const postsPerMinute = 30;

/** Hash of a visitor's address, for the limits of a school's forms. */
export async function hashAddress({ providerId, unlockedStore }: Ctx, ip: string | undefined) {
  const secret = await loadServiceSecret(unlockedStore);
  return createHmac('sha256', secret)
    .update(`${providerId} ${toAddressKey(ip)}`)
    .digest('hex');
}

/** An address has sent as many forms, or booked as many places, as it may. */
export class AddressLimited extends Error {
  readonly reason: 'posts' | 'places';
  constructor(reason: 'posts' | 'places') {
    super();
    this.reason = reason;
  }
}

/** Protects routes with forms: caches nothing, refuses posts of other sites, and limits requests before bodies are read. */
export function protectForms(app: FastifyInstance, services: Services & { isOwnHost: boolean }) {
  const { settings, isOwnHost, requireHttps } = services;
  const toOrigin = ({ protocol, headers }: FastifyRequest) => `${protocol}://${headers.host ?? ''}`;
  const toSecure = ({ headers }: FastifyRequest) => `https://${headers.host ?? ''}`;
  const countPost = app.createRateLimit({
    max: postsPerMinute,
    timeWindow: '1 minute',
    keyGenerator: (request) => `${request.catalog.view.school.providerId} ${toAddressKey(request.ip)}`,
  });
  const limits = [limitByAddress(services.countRequest), limitByAddress(countPost)] as const;
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });
  if (requireHttps) app.addHook('onRequest', redirectToHttps(settings, isOwnHost ? toSecure : undefined));
  app.addHook('onRequest', rejectCrossSite(settings, isOwnHost ? toOrigin : undefined));
  app.addHook('preParsing', async (request) => {
    await limits[0](request);
    if (request.method === 'POST') await limits[1](request);
  });
}

/** A person leaves the hidden field empty. */
export const isBot = (request: FastifyRequest) => (readField(request, 'website') ?? '') !== '';

/** A context that writes, in the language of the page. */
export async function createFormContext({ database, settings }: Services, request: FastifyRequest): Promise<Ctx> {
  const { view } = request.catalog;
  const audit = { actor: 'server', actorId: null, action: getRoute(request), requestId: request.id } as const;
  const ctx = await createContext(database.withAudit(audit), settings, view.school.providerId);
  return { ...ctx, language: view.language };
}
