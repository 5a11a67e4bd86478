import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { Ctx } from '../core/context.ts';
import { rollbackNoChange } from '../database/audit-log.ts';
import type { Tx } from '../database/client.ts';
import { hashPassword, storeAdminPassword, storePassword } from '../resources/auth/password-service.ts';
import { endSession, openSession, openSessionByToken } from '../resources/auth/session-service.ts';
import type { Purpose, TokenOwner } from '../resources/auth/token-schema.ts';
import { getOwner, useToken } from '../resources/auth/token-service.ts';
import { sendPage } from './send-page.tsx';
import { readNewPassword } from './forms.ts';
import { fetchSchool, toUsername } from './people.ts';
import type { PageServices } from './page-context.ts';
import { Notice } from './views/notice.tsx';
import { ChoosePassword, type Faults } from './views/passwords.tsx';

type WithToken = { Params: { token: string } };

/** The ways in and out: links that sign in or let choose a password, and the page after logging out. */
export const authStore: FastifyPluginAsync<PageServices> = async (app, { on, paths, cookie, contextFor }) => {
  // A HEAD is a link checker's: it uses nothing up.
  app.head<WithToken>('/sign-in/:token', async ({ params }, reply) =>
    reply.code((await getOwner(on, 'sign_in', params.token)) ? 200 : 410).send(),
  );
  app.get<WithToken>('/sign-in/:token', { exposeHeadRoute: false }, async (request, reply) => {
    const secret = await openSessionByToken(on, request.params.token, cookie.read(request));
    if (secret === undefined) return gone('sign_in', request, reply);
    cookie.set(reply, secret);
    return reply.redirect(paths.courses, 303);
  });

  app.get<WithToken>('/password/:token', async (request, reply) => {
    const owner = await getOwner(on, 'password', request.params.token);
    return owner ? askForPassword(request, reply, owner, {}) : gone('password', request, reply);
  });
  app.post<WithToken>('/password/:token', async (request, reply) => {
    const { token } = request.params;
    const owner = await getOwner(on, 'password', token);
    if (!owner) return gone('password', request, reply);
    const { password, faults } = readNewPassword(request, request.view.says);
    if (Object.keys(faults).length > 0) return askForPassword(request, reply, owner, faults);

    const ctx = await contextFor(request, owner);
    const passwordHash = await hashPassword(password, ctx.fairnessKey);
    const stored = await ctx.write(async (tx) => {
      const winner = await useToken(tx, 'password', token);
      if (!winner) {
        rollbackNoChange(tx);
        return;
      }
      const secret = await storeFor(ctx, tx, winner, passwordHash);
      const last = cookie.read(request);
      if (secret !== null && last !== undefined) await endSession(tx, last);
      return { secret };
    });
    if (!stored) return gone('password', request, reply);
    if (stored.secret === null) return sendPage(reply, 200, <AdminStored view={request.view} />);
    cookie.set(reply, stored.secret);
    return reply.redirect(paths.courses, 303);
  });

  app.get('/log-out', (request, reply) => {
    const { view } = request;
    return sendPage(reply, 200, <Notice view={view} title={view.says.loggedOut} lines={[view.says.signedOutHelp]} />);
  });

  async function askForPassword(request: FastifyRequest, reply: FastifyReply, owner: TokenOwner, faults: Faults) {
    const ctx = await contextFor(request, owner);
    const view = { ...request.view, school: await fetchSchool(ctx) };
    const page = <ChoosePassword view={view} username={await toUsername(ctx, owner)} faults={faults} />;
    return sendPage(reply, Object.keys(faults).length > 0 ? 400 : 200, page);
  }
};

/** Stores it; a course user is then signed in by the secret this tells, an admin user has no pages. */
async function storeFor(ctx: Ctx, tx: Tx, { providerId, userId, adminUserId }: TokenOwner, passwordHash: string) {
  if (userId === null) {
    await storeAdminPassword(tx, adminUserId!, passwordHash);
    return null;
  }
  await storePassword(ctx, tx, userId, passwordHash);
  return openSession(tx, { providerId, userId });
}

const AdminStored = ({ view }: { view: FastifyRequest['view'] }) => (
  <Notice view={view} title={view.says.passwordStored} lines={[view.says.adminStored]} />
);

/** Used up, too old, or never there: nobody is told which. */
function gone(purpose: Purpose, { view }: FastifyRequest, reply: FastifyReply) {
  const { linkGone, linkGoneWhy, signInAgain, invitationAgain } = view.says;
  const whatToDo = purpose === 'sign_in' ? signInAgain : invitationAgain;
  return sendPage(reply, 410, <Notice view={view} title={linkGone} lines={[linkGoneWhy, whatToDo]} />);
}
