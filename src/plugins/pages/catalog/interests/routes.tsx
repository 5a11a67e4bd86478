import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../../../core/errors.ts';
import type { Services } from '../../../../http/auth/authenticate.ts';
import { fill } from '../../fill.ts';
import { readField } from '../../forms.ts';
import { formLimits } from '../booking/limits.ts';
import { findCourse } from '../courses.ts';
import { findDatedCourses } from '../dates/service.ts';
import { AddressLimited, createFormContext, isBot } from '../forms.ts';
import { isAt, readId, type ItemRoute } from '../item-route.ts';
import { sendPage } from '../../send-page.tsx';
import { InterestPage } from '../views/interest.tsx';
import { Notice } from '../views/notice.tsx';
import { acceptsInterests } from './switch.ts';
import { listFaults, requestByForm } from './service.ts';

/** The form of a course without a coming date, which its own page shows too. */
export const interestPages: FastifyPluginAsync<Services> = async (app, services) => {
  app.get<ItemRoute>('/courses/:item/interest', async (request, reply) => {
    const { view } = request.catalog;
    const course = await getCourse(request);
    if (!(await isAwaited(request, course.id))) return reply.redirect(view.paths.course(course), 303);
    if (!isAt(request, view.paths.interest(course))) return reply.redirect(view.paths.interest(course), 301);
    return sendPage(reply, 200, <InterestPage {...{ view, course }} />);
  });

  app.post<ItemRoute>('/courses/:item/interest', async (request, reply) => {
    const { view } = request.catalog;
    const { texts, paths } = view;
    const course = await getCourse(request);
    const form = { name: readField(request, 'name') ?? '', email: readField(request, 'email') ?? '' };
    if (isBot(request)) return sendRefusal(reply, { view, course, form }, 'program');
    const errors = listFaults(form).map(({ field, isMissing }) => ({
      name: field,
      text: fill(isMissing ? texts.form.missing : texts.form.notValid, texts.fields[field]),
    }));
    if (errors.length > 0) return sendPage(reply, 400, <InterestPage {...{ view, course, form, errors }} />);
    if (!(await isAwaited(request, course.id))) return reply.redirect(paths.course(course), 303);
    try {
      await requestByForm(await createFormContext(services, request), course.id, form, request.ip);
    } catch (error) {
      if (error instanceof AddressLimited) return sendRefusal(reply, { view, course, form }, 'posts');
      // Published, or switched off, since.
      if (!(error instanceof Problem) || error.kind !== 'invalid') throw error;
      return reply.redirect(paths.course(course), 303);
    }
    return reply.redirect(paths.interested(course), 303);
  });

  app.get<ItemRoute>('/courses/:item/interested', async (request, reply) => {
    const { view } = request.catalog;
    const course = await getCourse(request);
    const { sent, sentHelp, sentAgain } = view.texts.interest;
    return sendPage(reply, 200, <Notice view={view} title={sent} lines={[fill(sentHelp, course.title), sentAgain]} />);
  });
};

const getCourse = async (request: FastifyRequest<ItemRoute>) =>
  Problem.assertFound(await findCourse(request.ctx, readId(request)), 'Course');

/** True if the form of a course is shown. */
async function isAwaited({ ctx, catalog }: FastifyRequest, courseId: number) {
  return !(await findDatedCourses(ctx, courseId)).has(courseId) && acceptsInterests(ctx, catalog.view);
}

/** The form with the reason and what to do. */
const sendRefusal = (reply: FastifyReply, props: Parameters<typeof InterestPage>[0], reason: 'posts' | 'program') => {
  const text = fill(props.view.texts.interest.refused[reason], formLimits.postsPerHour);
  const errors = [{ name: undefined, text }];
  return sendPage(reply, 429, <InterestPage {...props} errors={errors} />);
};
