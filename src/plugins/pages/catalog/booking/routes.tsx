import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { Problem, type CodedError } from '../../../../core/errors.ts';
import { todayIn } from '../../../../core/timestamps.ts';
import type { Ctx } from '../../../../database/context.ts';
import type { Services } from '../../../../http/auth/authenticate.ts';
import { fill } from '../../fill.ts';
import { readField } from '../../forms.ts';
import { parseBooking } from '../../../../domains/bookings/booking/body-schema.ts';
import { bookingProblem } from '../../../../core/booking-errors.ts';
import { findDateTerms } from '../../../../domains/bookings/participant-changes/deregistration-service.ts';
import { toSchoolContext } from '../courses.ts';
import { canBook, isSold, type CatalogDate } from '../dates/model.ts';
import { getDate } from '../dates/service.ts';
import { AddressLimited, createFormContext, isBot } from '../forms.ts';
import { isAt, readId, type ItemRoute } from '../item-route.ts';
import { sendPage } from '../../send-page.tsx';
import type { View } from '../view.ts';
import { BookingPage } from '../views/booking/form.tsx';
import type { Focus } from '../views/booking/props.ts';
import { Confirmed } from '../views/booking/confirmation.tsx';
import { Notice } from '../views/notice.tsx';
import { loadConfirmation } from './confirmation.ts';
import { lacksSeats, toFormErrors, type FormError } from './errors.ts';
import {
  emptyPerson,
  isCurrent,
  isKey,
  listLinks,
  listMissing,
  newKey,
  readForm,
  toBookingFields,
  toFieldUses,
  type BookingForm,
} from './form.ts';
import { formLimits } from './limits.ts';
import { priceForm, type Priced } from './price.ts';
import {
  bookByForm,
  findPost,
  FormEnded,
  FormReused,
  isPostOf,
  PriceChanged,
  toChoice,
  toFingerprint,
  toVersion,
} from './service.ts';
import { listWarnings } from './warnings.ts';

type Visit = { ctx: Ctx; view: View; date: CatalogDate };

/** The booking form of a date, and the page that confirms its booking. Neither is cached. */
export const bookingPages: FastifyPluginAsync<Services> = async (app, services) => {
  app.get<ItemRoute>('/dates/:item/book', async (request, reply) => {
    const visit = await openForm(services, request);
    const path = visit.view.paths.booking(visit.date);
    const external = visit.date.externalUrl;
    if (external) return reply.redirect(external, 303);
    if (!canBook(visit.date)) return reply.redirect(visit.view.paths.date(visit.date), 303);
    if (!isAt(request, path)) return reply.redirect(path, 301);
    return sendForm(reply, visit, readForm(request), { status: 200 });
  });

  app.post<ItemRoute>('/dates/:item/book', async (request, reply) => {
    const visit = await openForm(services, request);
    const { view, date } = visit;
    if (date.externalUrl) return reply.redirect(view.paths.date(date), 303);
    const form = readForm(request);
    if (isBot(request)) return sendRefusal(reply, visit, form, 'program');
    const action = readField(request, 'action') ?? 'check';
    const post = await findPost(visit.ctx.unlockedStore, visit.ctx.providerId, form.key);
    const { reused, outdated } = view.texts.form;
    const isOther = post !== undefined && !isPostOf(post, toFingerprint(form.key, toFields(visit, form)));
    const isOutdated = post === undefined && !isCurrent(form.key);
    const [shown, how] = changeForm(form, action, view);
    if (isOther || isOutdated)
      return sendNewForm(reply, visit, shown, isOther ? reused : outdated, action === 'book' ? { status: 409 } : how);
    if (action !== 'book') return sendForm(reply, visit, shown, how);
    if (post) return reply.redirect(view.paths.booked(form.key), 303);
    if (!isSold(date)) return reply.redirect(view.paths.date(date), 303);
    return sendBooking(request, reply, visit, form);
  });

  app.get<{ Params: { key: string } }>('/booked/:key', async (request, reply) => {
    const { ctx } = request;
    const { view } = request.catalog;
    const { key } = request.params;
    if (!isKey(key)) throw Problem.notFound('Page');
    const confirmation = await loadConfirmation(toSchoolContext(ctx), key, view);
    if (!confirmation) return sendEnded(reply, view);
    return sendPage(reply, 200, <Confirmed {...{ view, confirmation }} />);
  });
};

/** The public date, and a context that writes; throws if the date is not public. */
async function openForm(services: Services, request: FastifyRequest<ItemRoute>): Promise<Visit> {
  const { ctx: reading, catalog } = request;
  const date = await getDate(reading, readId(request));
  return { ctx: await createFormContext(services, request), view: catalog.view, date };
}

const toTooMany = ({ form }: View['texts']) => fill(form.tooMany, formLimits.persons);

const noFaults = { missing: [], notValid: [], errors: [] };

type Shown = { status: number; errors?: FormError[]; focus?: Focus; priced?: Priced };

/** Adds or removes a participant, or shows the price. */
function changeForm(form: BookingForm, action: string, { texts }: View): [BookingForm, Shown] {
  const { persons } = form;
  if (action === 'add' && persons.length < formLimits.persons)
    return [
      { ...form, persons: [...persons, emptyPerson()] },
      { status: 200, focus: 'person' },
    ];
  if (action === 'add') return [form, { status: 400, errors: [{ name: undefined, text: toTooMany(texts) }] }];
  const removed = Number(/^remove_(\d{1,2})$/.exec(action)?.[1]);
  const rest = persons.filter((_person, n) => n + 1 !== removed);
  if (rest.length > 0 && rest.length < persons.length) return [{ ...form, persons: rest }, { status: 200 }];
  return [form, { status: 200, focus: 'price' }];
}

const toFields = ({ view, date }: Visit, form: BookingForm) =>
  toBookingFields(form, date, toFieldUses(view.school.fields), view.language);
const parseForm = (visit: Visit, form: BookingForm) => parseBooking(toFields(visit, form), todayIn(visit.date.zone));

/** Sends a form with a new key after one that has booked, or may have, and was filled in for something else since. */
const sendNewForm = (
  reply: FastifyReply,
  visit: Visit,
  form: BookingForm,
  text: string,
  { errors = [], ...shown }: Shown,
) => sendForm(reply, visit, { ...form, key: newKey() }, { ...shown, errors: [{ name: undefined, text }, ...errors] });

/** The form with its price, errors and warnings. */
async function sendForm(reply: FastifyReply, visit: Visit, form: BookingForm, shown: Shown) {
  const { ctx, view, date } = visit;
  const { status, errors = [], focus } = shown;
  const uses = toFieldUses(view.school.fields);
  const { rest: input } = parseForm(visit, form);
  const [priced, terms] = await Promise.all([shown.priced ?? priceForm(ctx, input), findDateTerms(ctx, date.id)]);
  const warnings = listWarnings(form);
  const ofPrice = toFormErrors({ ...noFaults, errors: priced.errors }, form, visit);
  const known = new Set(errors.map(({ name, text }) => `${name} ${text}`));
  const all = [
    ...errors,
    ...ofPrice.filter(({ name, text }) => !known.has(`${name} ${text}`)),
    ...warnings.filter(({ isNew }) => isNew).map(({ name }) => ({ name, text: view.texts.form.warnings[name] })),
  ];
  const version = priced.quote ? `${toVersion(priced.quote, date)} ${toChoice(input)}` : '';
  const again = { ...form, version, kept: warnings.map(({ mark }) => mark).join(' ') };
  const page = <BookingPage {...{ view, date, form: again, uses, quote: priced.quote, terms, errors: all, focus }} />;
  return sendPage(reply, all.length > 0 && status === 200 ? 400 : status, page);
}

/** Books, unless the form is faulty or the price is another one than the form has shown. */
async function sendBooking(request: FastifyRequest, reply: FastifyReply, visit: Visit, form: BookingForm) {
  const { ctx, view } = visit;
  const { texts, paths } = view;
  const { key } = form;
  const [version = '', choice] = form.version.split(' ');
  const { rest: input, errors: invalid } = parseForm(visit, form);
  const errors = listFaults(visit, form, invalid);
  // Before the lock, which most forms for a full date do not need.
  const priced = await priceForm(ctx, input);
  const isWarned = listWarnings(form).some(({ isNew }) => isNew);
  if (isWarned || errors.length + priced.errors.length > 0) {
    const status = !isWarned && errors.length === 0 && lacksSeats(priced) ? 409 : 400;
    return sendForm(reply, visit, form, { status, errors, priced });
  }
  try {
    if (!priced.quote || toVersion(priced.quote, visit.date) !== version) throw new PriceChanged();
    const fingerprint = toFingerprint(key, toFields(visit, form));
    await bookByForm(ctx, { key, fingerprint, ip: request.ip, version, date: visit.date, input });
  } catch (error) {
    if (error instanceof AddressLimited) return sendRefusal(reply, visit, form, error.reason);
    if (error instanceof FormReused) return sendNewForm(reply, visit, form, texts.form.reused, { status: 409 });
    if (error instanceof FormEnded) return sendEnded(reply, view);
    if (error instanceof PriceChanged) {
      const text = choice === toChoice(input) ? texts.form.priceChanged : texts.form.priceChosen;
      return sendForm(reply, visit, form, { status: 409, errors: [{ name: 'price', text }] });
    }
    if (!(error instanceof Problem) || error.kind !== 'invalid') throw error;
    const status = lacksSeats(error) ? 409 : 400;
    return sendForm(reply, visit, form, { status, errors: toFormErrors(error, form, visit) });
  }
  return reply.redirect(paths.booked(key), 303);
}

/** Those of validation, and those of the form alone. */
function listFaults(visit: Visit, form: BookingForm, invalid: CodedError[]): FormError[] {
  const { school, texts } = visit.view;
  const general = [
    ...(form.persons.length > formLimits.persons ? [toTooMany(texts)] : []),
    ...(visit.date.state === 'planned' ? [] : [texts.form.errors.course_date_cancelled]),
  ];
  const { missing, notValid, errors } = invalid.length > 0 ? bookingProblem(invalid) : noFaults;
  const needed = [...missing, ...listMissing(form, toFieldUses(school.fields))];
  return [
    ...general.map((text): FormError => ({ name: undefined, text })),
    ...toFormErrors({ missing: needed, notValid: [...notValid, ...listLinks(form)], errors }, form, visit),
  ];
}

/** The form with the reason and what to do. */
const sendRefusal = (
  reply: FastifyReply,
  visit: Visit,
  form: BookingForm,
  reason: AddressLimited['reason'] | 'program',
) => {
  const limit = reason === 'places' ? formLimits.unpaidPlacesPerDay : formLimits.postsPerHour;
  const text = fill(visit.view.texts.form.refused[reason], limit);
  return sendForm(reply, visit, form, { status: 429, errors: [{ name: undefined, text }] });
};

/** The booking of a form of an earlier day is not shown any more. */
const sendEnded = (reply: FastifyReply, view: View) => {
  const { ended, endedHelp } = view.texts.form.confirmation;
  return sendPage(reply, 410, <Notice view={view} title={ended} lines={[endedHelp]} />);
};
