import type { CookieSerializeOptions } from '@fastify/cookie';
import { preferredLanguage, type Language } from '../../../core/reference/language.ts';
import type { Ctx } from '../../../database/context.ts';
import type { UnlockedStore } from '../../../database/reader.ts';
import type { Settings } from '../../../core/settings.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../../../http/auth/authenticate.ts';
import { getRoute } from '../../../http/route-name.ts';
import { findBookingSettings } from '../../../domains/school/booking-settings/service.ts';
import { createContext } from '../../../domains/school/schools/service.ts';
import { texts } from '../texts.ts';
import { createPaths, type Paths } from './view.ts';

/** A cookie until the browser is closed. Browsers accept the prefix only by https and from this very host. */
function hostCookie({ publicUrl }: Settings, name: string) {
  const secure = publicUrl.startsWith('https:');
  const fullName = secure ? `__Host-${name}` : name;
  const options: CookieSerializeOptions = { path: '/', httpOnly: true, sameSite: 'lax', secure };
  return {
    read: ({ cookies }: FastifyRequest) => cookies[fullName],
    set: (reply: FastifyReply, value: string) => reply.setCookie(fullName, value, options),
    clear: (reply: FastifyReply) => reply.clearCookie(fullName, options),
  };
}

/** Contains the session's secret; the session expires on its own. */
const sessionCookie = (settings: Settings) => hostCookie(settings, 'session');
/** A flash cookie for the page that confirms a password change. */
const changeCookie = (settings: Settings) => hostCookie(settings, 'password-changed');

type Cookie = ReturnType<typeof hostCookie>;

/** Owner of a link or session; without an id that of a booking, who has no account. */
type Person = { providerId: number; userId: number | null; adminUserId?: number | null };

/** Options of the pages' route plugins. */
export type PageServices = Pick<Services, 'countRequest'> & {
  /** Reads tokens and sessions, which are looked up before their provider is known. */
  unlockedStore: UnlockedStore;
  paths: Paths;
  cookie: Cookie;
  changedCookie: Cookie;
  /** Sets the view of the request; `fallback` is for those who ask for none of the languages. */
  openView(request: FastifyRequest, fallback: Language): void;
  /** Context with the person as actor of the audit log; without a requested language, in that of the school. */
  createVisitorContext(request: FastifyRequest, person: Person): Promise<Ctx>;
};

export function createPageServices({ database, settings, countRequest }: Services): PageServices {
  const paths = createPaths(settings);
  const openView = (request: FastifyRequest, fallback: Language) => {
    const language = preferredLanguage(request.headers['accept-language'], fallback);
    request.view = { language, texts: texts[language], paths, timezone: settings.timezone };
  };
  return {
    countRequest,
    unlockedStore: database.unlocked,
    paths,
    openView,
    cookie: sessionCookie(settings),
    changedCookie: changeCookie(settings),
    createVisitorContext: async (request, { providerId, userId, adminUserId = null }) => {
      const audited = database.withAudit({
        ...toActor(userId, adminUserId),
        action: getRoute(request),
        requestId: request.id,
      });
      const ctx = await createContext(audited, settings, providerId);
      openView(request, (await findBookingSettings(ctx, ctx.db))?.language ?? settings.defaultLanguage);
      return { ...ctx, language: request.view.language };
    },
  };
}

function toActor(userId: number | null, adminUserId: number | null) {
  if (userId !== null) return { actor: 'course_user', actorId: userId } as const;
  return { actor: adminUserId === null ? 'server' : 'admin_user', actorId: adminUserId } as const;
}
