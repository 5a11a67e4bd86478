import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { Ctx } from '../core/context.ts';
import { notFound, Problem } from '../core/errors.ts';
import { rollbackNoChange } from '../database/audit-log.ts';
import { hashPassword, replacePassword } from '../resources/auth/password-service.ts';
import { endSession, openSession, signedInBy } from '../resources/auth/session-service.ts';
import { verifyCredentials } from '../resources/auth/sign-on-service.ts';
import { sendPage } from './send-page.tsx';
import { createCalendar } from './calendar.ts';
import { findEnrolment, instructorNames, listEnrolments, mayPlan } from './courses.ts';
import { describeCourse } from './descriptions.ts';
import { fieldOf, readNewPassword } from './forms.ts';
import { fetchPerson, fetchSchool } from './people.ts';
import type { PageServices } from './page-context.ts';
import type { PersonalView } from './view.ts';
import { Course } from './views/course.tsx';
import { Courses } from './views/courses.tsx';
import { Details } from './views/details.tsx';
import { Notice } from './views/notice.tsx';
import { ChangePassword, type Faults } from './views/passwords.tsx';

/** Somebody who is signed in: what their pages may ask the database, and how they are written. */
type Visitor = { ctx: Ctx; userId: number; view: PersonalView };
declare module 'fastify' {
  interface FastifyRequest {
    visitor: Visitor;
  }
}
type OfParticipant = { Params: { participantId: string } };

/** What only the person sees who is signed in; everybody else is told how to sign in. */
export const personalPages: FastifyPluginAsync<PageServices> = async (
  app,
  { on, paths, cookie, changed, contextFor },
) => {
  app.decorateRequest('visitor');
  app.addHook('onRequest', async (request, reply) => {
    const visitor = await getVisitor(request);
    if (visitor) {
      request.visitor = visitor;
      return;
    }
    const { view } = request;
    return sendPage(reply, 401, <Notice view={view} title={view.says.signedOut} lines={[view.says.signedOutHelp]} />);
  });

  async function getVisitor(request: FastifyRequest): Promise<Visitor | undefined> {
    const secret = cookie.read(request);
    const signedIn = secret === undefined ? undefined : await signedInBy(on, secret);
    if (!signedIn) return undefined;
    const { userId } = signedIn;
    const ctx = await contextFor(request, signedIn);
    const [school, person] = [await fetchSchool(ctx), await fetchPerson(ctx, userId)];
    return { ctx, userId, view: { ...request.view, school, person: person! } };
  }

  app.get('', async ({ visitor: { ctx, userId, view } }, reply) =>
    sendPage(reply, 200, <Courses view={view} {...await listEnrolments(ctx, userId)} />),
  );

  app.get<OfParticipant>('/courses/:participantId', async (request, reply) => {
    const enrolment = await getEnrolment(request);
    const { ctx, view } = request.visitor;
    const instructors = await instructorNames(ctx, enrolment.courseDateId);
    const descriptions = await describeCourse(ctx, enrolment.courseId);
    return sendPage(reply, 200, <Course {...{ view, enrolment, instructors, descriptions }} />);
  });

  app.get<OfParticipant>('/courses/:participantId/calendar.ics', async (request, reply) => {
    const enrolment = await getEnrolment(request);
    if (!mayPlan(enrolment)) throw notFound('Calendar');
    return reply
      .type('text/calendar; charset=utf-8')
      .header('content-disposition', 'attachment; filename="course.ics"')
      .send(createCalendar(request.visitor.ctx, enrolment));
  });

  app.get('/details', ({ visitor }, reply) => sendPage(reply, 200, <Details view={visitor.view} />));

  app.get('/password', ({ visitor }, reply) =>
    sendPage(reply, 200, <ChangePassword view={visitor.view} faults={{}} />),
  );
  app.post('/password', async (request, reply) => {
    const { ctx, userId, view } = request.visitor;
    const refuse = (status: number, faults: Faults) =>
      sendPage(reply, status, <ChangePassword view={view} faults={faults} />);
    const { password, faults } = readNewPassword(request, view.says);
    if (Object.keys(faults).length > 0) return refuse(400, faults);
    const old = await checkOld(request.visitor, fieldOf(request, 'old') ?? '', reply);
    if ('status' in old) return refuse(old.status, { old: old.fault });

    const hashes = { from: old.passwordHash, to: await hashPassword(password, ctx.fairnessKey) };
    const secret = await ctx.write(async (tx) => {
      if (!(await replacePassword(ctx, tx, userId, hashes))) {
        rollbackNoChange(tx);
        return;
      }
      return openSession(tx, { providerId: ctx.providerId, userId });
    });
    // It is another by now: whoever changed it keeps what they chose.
    if (!secret) return refuse(400, { old: view.says.wrongPassword });
    cookie.set(reply, secret);
    changed.set(reply);
    return reply.redirect(paths.passwordChanged, 303);
  });
  app.get('/password-changed', (request, reply) => {
    if (!changed.isSet(request)) return reply.redirect(paths.password, 303);
    changed.clear(reply);
    const { view } = request.visitor;
    return sendPage(
      reply,
      200,
      <Notice view={view} title={view.says.passwordStored} lines={[view.says.passwordChanged]} />,
    );
  });

  app.post('/log-out', async (request, reply) => {
    await endSession(on, cookie.read(request)!);
    cookie.clear(reply);
    return reply.redirect(paths.logOut, 303);
  });
};

/** The visitor's own; another's is as unknown as one that is not there. */
async function getEnrolment({ params, visitor: { ctx, userId } }: FastifyRequest<OfParticipant>) {
  const { participantId } = params;
  const found = /^\d{1,15}$/.test(participantId) && (await findEnrolment(ctx, userId, Number(participantId)));
  if (!found) throw notFound('Participant');
  return found;
}

/** Counted as a sign-on is, so that nobody tries passwords at a browser that was left open. */
async function checkOld({ ctx, view }: Visitor, password: string, reply: FastifyReply) {
  const { says, person } = view;
  try {
    const user = await verifyCredentials(ctx, { username: person.username, password });
    return user ?? { status: 400, fault: says.wrongPassword };
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'too_many_requests') throw error;
    reply.header('retry-after', error.retryAfter);
    return { status: 429, fault: says.tooManyTries(Math.ceil(error.retryAfter! / 60)) };
  }
}
