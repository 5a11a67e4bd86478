import type { Ctx } from '../core/context.ts';
import type { Runner } from '../database/statements.ts';
import type { Services } from '../http/auth.ts';
import { contextOf } from '../resources/providers/service.ts';
import { changeCookie, sessionCookie, type ChangeCookie, type SessionCookie } from './cookie.ts';
import { pathsOf, type Paths, type View } from './view.ts';

/** What the pages' routes are made with. */
export type PageServices = {
  /** Where tokens and sessions are looked up, before anybody knows whose they are. */
  on: Runner;
  paths: Paths;
  cookie: SessionCookie;
  changed: ChangeCookie;
  /** The context of the provider that a link or a session leads to. */
  contextFor(providerId: number, view: View): Promise<Ctx>;
};

export function pageServices({ database, settings, guards }: Services): PageServices {
  const paths = pathsOf(settings);
  return {
    on: { $client: database.pool },
    paths,
    cookie: sessionCookie(settings),
    changed: changeCookie(settings, paths.passwordChanged),
    contextFor: async (providerId, { language }) => ({
      ...(await contextOf(database, settings, providerId)),
      language,
      guards,
    }),
  };
}
