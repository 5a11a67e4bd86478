import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { Ctx } from '../../../database/context.ts';
import { toCalendar } from '../../../core/calendar.ts';
import { Problem } from '../../../core/errors.ts';
import { toUidHost } from '../../../core/settings.ts';
import { hashPassword, replacePassword } from '../../../domains/school/auth/password-service.ts';
import { endSession, openSession, findSessionUser } from '../../../domains/school/auth/session-service.ts';
import { loadCancellationTerms } from '../../../domains/bookings/participant-changes/deregistration-service.ts';
import { cancelByForm, sendCancelForm } from './cancel-page.tsx';
import { sendPage } from '../send-page.tsx';
import { sendNotice } from './views/notice.tsx';
import {
  canBeInCalendar,
  findEnrolment,
  findShownCredit,
  listEnrolments,
  loadInstructorNames,
  toCalendarPlace,
} from './courses.ts';
import { loadDescriptions } from '../../../domains/courses/courses/description-service.ts';
import { detailsPages } from './details-pages.tsx';
import { readNewPassword, toId } from './forms.ts';
import { loadPerson, loadSchool } from './people.ts';
import type { PageServices } from './page-context.ts';
import { sessionPages } from './sessions.tsx';
import type { PersonalView } from './view.ts';
import { Course } from './views/course.tsx';
import { Courses } from './views/courses.tsx';
import { verifyOldPassword } from './verify-password.ts';
import { ChangePassword, type FieldErrors } from './views/passwords.tsx';

/** A signed-in person. */
type Visitor = { ctx: Ctx; userId: number; view: PersonalView };
declare module 'fastify' {
  interface FastifyRequest {
    visitor: Visitor;
  }
}
type ParticipantRoute = { Params: { participantId: string } };

/** Pages that require a session; without one they respond with 401 and how to sign in. */
export const personalPages: FastifyPluginAsync<PageServices> = async (app, services) => {
  const { unlockedStore, paths, cookie, changedCookie, createVisitorContext } = services;
  app.decorateRequest('visitor');
  app.addHook('onRequest', async (request, reply) => {
    const visitor = await loadVisitor(request);
    const { view } = request;
    if (!visitor) return sendNotice(reply, 401, view, view.texts.signedOut, view.texts.signedOutHelp);
    request.visitor = visitor;
  });

  async function loadVisitor(request: FastifyRequest): Promise<Visitor | undefined> {
    const secret = cookie.read(request);
    const signedIn = secret === undefined ? undefined : await findSessionUser(unlockedStore, secret);
    if (!signedIn) return undefined;
    const { userId } = signedIn;
    const ctx = await createVisitorContext(request, signedIn);
    const [school, person] = [await loadSchool(ctx), await loadPerson(ctx, userId)];
    return { ctx, userId, view: { ...request.view, school, person: person! } };
  }

  app.get('', async ({ visitor: { ctx, userId, view } }, reply) =>
    sendPage(reply, 200, <Courses view={view} {...await listEnrolments(ctx, userId)} />),
  );

  app.get<ParticipantRoute>('/courses/:participantId', async (request, reply) => {
    const enrolment = await requireEnrolment(request);
    const { ctx, view } = request.visitor;
    const instructors = await loadInstructorNames(ctx, enrolment.courseDateId);
    const descriptions = await loadDescriptions(ctx, enrolment.courseId);
    const terms = (await loadCancellationTerms(ctx, ctx.db, [enrolment.id])).get(enrolment.id);
    const credit = await findShownCredit(ctx, enrolment);
    return sendPage(reply, 200, <Course {...{ view, enrolment, instructors, descriptions, terms, credit }} />);
  });

  const cancelPath = '/courses/:participantId/cancel';
  app.get<ParticipantRoute>(cancelPath, async (request, reply) => sendCancelForm(reply, toCancelVisit(request)));
  app.post<ParticipantRoute>(cancelPath, async (request, reply) =>
    cancelByForm(request, reply, toCancelVisit(request)),
  );

  app.get<ParticipantRoute>('/courses/:participantId/calendar.ics', async (request, reply) => {
    const enrolment = await requireEnrolment(request);
    if (!canBeInCalendar(enrolment)) throw Problem.notFound('Calendar');
    const { ctx, view } = request.visitor;
    const uidHost = toUidHost(view.school.uidHost, ctx.settings);
    const options = { providerId: ctx.providerId, uidHost, name: enrolment.title };
    return reply
      .type('text/calendar; charset=utf-8')
      .header('content-disposition', 'attachment; filename="course.ics"')
      .send(toCalendar(toCalendarPlace(enrolment), options));
  });

  app.get('/password', ({ visitor }, reply) =>
    sendPage(reply, 200, <ChangePassword view={visitor.view} errors={{}} />),
  );
  app.post('/password', async (request, reply) => {
    const { ctx, userId, view } = request.visitor;
    const sendForm = (status: number, errors: FieldErrors) =>
      sendPage(reply, status, <ChangePassword view={view} errors={errors} />);
    const { password, errors } = readNewPassword(request, view.texts, toPasswordNames(view));
    if (Object.keys(errors).length > 0) return sendForm(400, errors);
    const verified = await verifyOldPassword(request, reply);
    if ('status' in verified) return sendForm(verified.status, { old: verified.error });

    const hashes = { from: verified.passwordHash, to: await hashPassword(password, ctx.tenantQueueKey) };
    const secret = await ctx.write(['people'], async (w) => {
      if (!(await replacePassword(w, userId, hashes))) {
        w.tx.rollBack();
        return;
      }
      return openSession(w.tx, { providerId: ctx.providerId, userId });
    });
    // The old password was changed concurrently.
    if (!secret) return sendForm(400, { old: view.texts.wrongPassword });
    cookie.set(reply, secret);
    changedCookie.set(reply, 'yes');
    return reply.redirect(paths.passwordChanged, 303);
  });
  app.get('/password-changed', (request, reply) => {
    if (changedCookie.read(request) === undefined) return reply.redirect(paths.password, 303);
    changedCookie.clear(reply);
    const { view } = request.visitor;
    return sendNotice(reply, 200, view, view.texts.passwordStored, view.texts.passwordChanged);
  });

  await app.register(detailsPages);
  await app.register(sessionPages, services);

  app.post('/log-out', async (request, reply) => {
    await endSession(unlockedStore, cookie.read(request)!);
    cookie.clear(reply);
    return reply.redirect(paths.logOut, 303);
  });
};

const toPasswordNames = ({ school, person }: PersonalView) => [
  school.title,
  ...[person.username, person.firstname, person.lastname, person.email],
];

function toCancelVisit(request: FastifyRequest<ParticipantRoute>) {
  const { ctx, userId, view } = request.visitor;
  const place = { userId, participantId: toId(request.params.participantId) };
  const back = view.paths.course(place.participantId);
  const load = async () => {
    const enrolment = await requireEnrolment(request);
    return { view, back, name: undefined, enrolment, credit: await findShownCredit(ctx, enrolment) };
  };
  return { ctx, place, load };
}

/** Throws not_found for missing enrolments and for those of other people. */
async function requireEnrolment({ params, visitor: { ctx, userId } }: FastifyRequest<ParticipantRoute>) {
  return Problem.assertFound(await findEnrolment(ctx, userId, toId(params.participantId)), 'Participant');
}
