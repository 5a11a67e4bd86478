import type { Ctx } from '../core/context.ts';
import type { Queryable } from '../database/statements.ts';
import type { FastifyRequest } from 'fastify';
import type { Services } from '../http/auth/authenticate.ts';
import { getRoute } from '../http/errors/error-handler.ts';
import { createContext } from '../resources/schools/provider-service.ts';
import { changeCookie, sessionCookie, type ChangeCookie, type SessionCookie } from './cookie.ts';
import { createPaths, type Paths } from './view.ts';

/** Whom a link or a session belongs to: a course user or an admin user. */
type Person = { providerId: number; userId: number | null; adminUserId?: number | null };

/** What the pages' routes are made with. */
export type PageServices = {
  /** Where tokens and sessions are looked up, before anybody knows whose they are. */
  on: Queryable;
  paths: Paths;
  cookie: SessionCookie;
  changed: ChangeCookie;
  /** The context of the provider that a link or a session leads to; what is written in it is told to be the person's doing. */
  contextFor(request: FastifyRequest, person: Person): Promise<Ctx>;
};

export function pageServices({ database, settings, guards }: Services): PageServices {
  const paths = createPaths(settings);
  return {
    on: { $client: database.pool },
    paths,
    cookie: sessionCookie(settings),
    changed: changeCookie(settings, paths.passwordChanged),
    contextFor: async (request, { providerId, userId, adminUserId = null }) => {
      const who =
        userId === null
          ? ({ actor: 'admin_user', actorId: adminUserId } as const)
          : ({ actor: 'course_user', actorId: userId } as const);
      const logged = database.withAudit({ ...who, action: getRoute(request) });
      return { ...(await createContext(logged, settings, providerId)), language: request.view.language, guards };
    },
  };
}
