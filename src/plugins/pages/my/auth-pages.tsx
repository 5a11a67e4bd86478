import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { WriteCtx } from '../../../database/context.ts';
import { getRoute } from '../../../http/route-name.ts';
import {
  hashPassword,
  storeAdminPassword,
  storePassword,
  loadPasswordNames,
} from '../../../domains/school/auth/password-service.ts';
import { endSession, openSession, openSessionByToken } from '../../../domains/school/auth/session-service.ts';
import type { Purpose, TokenOwner } from '../../../domains/school/auth/schema.ts';
import { findTokenOwner, consumeToken } from '../../../domains/school/auth/token-service.ts';
import { sendPage } from '../send-page.tsx';
import { sendNotice } from './views/notice.tsx';
import { readNewPassword, rejectSubresource } from './forms.ts';
import { loadSchool, loadUsername } from './people.ts';
import type { PageServices } from './page-context.ts';
import { ChoosePassword, type FieldErrors } from './views/passwords.tsx';

type TokenRoute = { Params: { token: string } };

/** Pages of sign-in links and password links, and the page after logging out. */
export const authPages: FastifyPluginAsync<PageServices> = async (
  app,
  { unlockedStore, paths, cookie, createVisitorContext },
) => {
  // HEAD, as sent by link checkers, does not use the token.
  app.head<TokenRoute>('/sign-in/:token', async ({ params }, reply) =>
    reply.code((await findTokenOwner(unlockedStore, 'sign_in', params.token)) ? 200 : 410).send(),
  );
  app.get<TokenRoute>(
    '/sign-in/:token',
    { exposeHeadRoute: false, onRequest: rejectSubresource },
    async (request, reply) => {
      const secret = await openSessionByToken(unlockedStore, {
        ...{ token: request.params.token, last: cookie.read(request) },
        action: getRoute(request),
      });
      if (secret === undefined) return sendLinkGone('sign_in', request, reply);
      cookie.set(reply, secret);
      return reply.redirect(paths.courses, 303);
    },
  );

  app.get<TokenRoute>('/password/:token', async (request, reply) => {
    const owner = await findTokenOwner(unlockedStore, 'password', request.params.token);
    return owner ? sendPasswordForm(request, reply, owner, {}) : sendLinkGone('password', request, reply);
  });
  app.post<TokenRoute>('/password/:token', async (request, reply) => {
    const { token } = request.params;
    const owner = await findTokenOwner(unlockedStore, 'password', token);
    if (!owner) return sendLinkGone('password', request, reply);
    const ctx = await createVisitorContext(request, owner);
    const { password, errors } = readNewPassword(request, request.view.texts, await loadPasswordNames(ctx, owner));
    if (Object.keys(errors).length > 0) return sendPasswordForm(request, reply, owner, errors);

    const passwordHash = await hashPassword(password, ctx.tenantQueueKey);
    const outcome = await ctx.write(['people'], async (w) => {
      const tokenOwner = await consumeToken(w.tx, 'password', token);
      if (!tokenOwner) {
        w.tx.rollBack();
        return;
      }
      const secret = await storeOwnerPassword(w, tokenOwner, passwordHash);
      const previousSecret = cookie.read(request);
      if (secret !== null && previousSecret !== undefined) await endSession(w.tx, previousSecret);
      return { secret };
    });
    if (!outcome) return sendLinkGone('password', request, reply);
    if (outcome.secret === null) {
      const { passwordStored, adminStored } = request.view.texts;
      return sendNotice(reply, 200, request.view, passwordStored, adminStored);
    }
    cookie.set(reply, outcome.secret);
    return reply.redirect(paths.courses, 303);
  });

  app.get('/log-out', (request, reply) => {
    const { view } = request;
    return sendNotice(reply, 200, view, view.texts.loggedOut, view.texts.signedOutHelp);
  });

  async function sendPasswordForm(
    request: FastifyRequest,
    reply: FastifyReply,
    owner: TokenOwner,
    errors: FieldErrors,
  ) {
    const ctx = await createVisitorContext(request, owner);
    const view = { ...request.view, school: await loadSchool(ctx) };
    const page = <ChoosePassword view={view} username={await loadUsername(ctx, owner)} errors={errors} />;
    return sendPage(reply, Object.keys(errors).length > 0 ? 400 : 200, page);
  }
};

/** Stores the password. Returns the secret of a new session, or null for admin users, who have no pages. */
async function storeOwnerPassword(w: WriteCtx, { providerId, userId, adminUserId }: TokenOwner, passwordHash: string) {
  if (userId === null) {
    await storeAdminPassword(w.tx, adminUserId!, passwordHash);
    return null;
  }
  await storePassword(w, userId, passwordHash);
  return openSession(w.tx, { providerId, userId });
}

/** One page for used, expired and unknown tokens, so that it reveals nothing. */
function sendLinkGone(purpose: Purpose, { view }: FastifyRequest, reply: FastifyReply) {
  const { linkGone, linkGoneWhy, signInAgain, invitationAgain } = view.texts;
  const whatToDo = purpose === 'sign_in' ? signInAgain : invitationAgain;
  return sendNotice(reply, 410, view, linkGone, linkGoneWhy, whatToDo);
}
