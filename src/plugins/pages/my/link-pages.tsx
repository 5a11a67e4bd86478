import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../../core/errors.ts';
import { hasConfirmedPlace } from '../../../core/reference/statuses.ts';
import { hasLink, isEmailAddress, isTitle, normalizeEmail, normalizeTitle } from '../../../core/text.ts';
import type { Ctx } from '../../../database/context.ts';
import { findLink } from '../../../domains/messages/links/service.ts';
import { acceptOffer, declineOffer } from '../../../domains/bookings/seat-assignment/service.ts';
import { namePlaces } from '../../../domains/bookings/participant-changes/editing-service.ts';
import { findShownCredit } from './courses.ts';
import { cancelByForm, sendCancelForm } from './cancel-page.tsx';
import { readField } from '../forms.ts';
import { toId } from './forms.ts';
import { loadLinkedBooking, loadOffer } from './linked.ts';
import type { PageServices } from './page-context.ts';
import { loadSchool } from './people.ts';
import { sendPage } from '../send-page.tsx';
import { sendNotice } from './views/notice.tsx';
import type { View } from './view.ts';
import { Booking, maxNamed, personFields, toFieldName, type BookingForm, type PersonField } from './views/booking.tsx';
import { Offer } from './views/offer.tsx';

type TokenRoute = { Params: { token: string } };
type PlaceRoute = { Params: { token: string; participantId: string } };
type Visit = { ctx: Ctx; view: View; token: string; bookingId: number; participantId: number | null };

/** Pages that need no session: of a booking for its payer, and of an offer for the person who waits. */
export const linkPages: FastifyPluginAsync<PageServices> = async (app, { unlockedStore, createVisitorContext }) => {
  async function openLink(kind: 'booking' | 'offer', request: FastifyRequest<TokenRoute>): Promise<Visit | undefined> {
    const found = await findLink(unlockedStore, kind, request.params.token);
    if (!found) return undefined;
    const ctx = await createVisitorContext(request, found);
    return { ...found, ctx, token: request.params.token, view: { ...request.view, school: await loadSchool(ctx) } };
  }

  app.get<TokenRoute>('/booking/:token', async (request, reply) => {
    const visit = await openLink('booking', request);
    return visit ? sendBooking(reply, visit, {}) : sendLinkGone(request, reply);
  });

  app.post<TokenRoute>('/booking/:token', async (request, reply) => {
    const visit = await openLink('booking', request);
    if (!visit) return sendLinkGone(request, reply);
    const { ctx, bookingId } = visit;
    const { places } = await loadLinkedBooking(ctx, bookingId);
    const persons = places.flatMap(({ enrolment }) => readPerson(request, enrolment.id));
    if (persons.length > maxNamed) throw Problem.invalidFields({ notValid: ['firstname'] });
    const isFaulty = persons.length === 0 || persons.some(({ faults }) => faults.length > 0);
    if (isFaulty) return sendBooking(reply, visit, { persons });
    const open = new Set(places.flatMap(({ enrolment, mayBeNamed }) => (mayBeNamed ? [enrolment.id] : [])));
    const named = persons.filter(({ participantId }) => open.has(participantId));
    return sendBooking(reply, visit, { named: await namePlaces(ctx, bookingId, named) });
  });

  const cancelPath = '/booking/:token/cancel/:participantId';
  app.get<PlaceRoute>(cancelPath, async (request, reply) => {
    const visit = await openLink('booking', request);
    return visit ? sendCancelForm(reply, toCancelVisit(visit, request)) : sendLinkGone(request, reply);
  });
  app.post<PlaceRoute>(cancelPath, async (request, reply) => {
    const visit = await openLink('booking', request);
    return visit ? cancelByForm(request, reply, toCancelVisit(visit, request)) : sendLinkGone(request, reply);
  });

  app.get<TokenRoute>('/offer/:token', async (request, reply) => {
    const visit = await openLink('offer', request);
    return visit ? sendOffer(request, reply, visit) : sendLinkGone(request, reply);
  });

  app.post<TokenRoute>('/offer/:token', async (request, reply) => {
    const visit = await openLink('offer', request);
    if (!visit) return sendLinkGone(request, reply);
    const answer = readField(request, 'answer');
    if (answer !== 'accept' && answer !== 'decline') throw Problem.invalidFields({ notValid: ['answer'] });
    const { ctx } = visit;
    const isAnswered = await ctx.write(['dates', 'people', 'money'], async (w) => {
      // Another person may have got the place, or the person another link.
      const change = answer === 'accept' ? acceptOffer : declineOffer;
      const isCurrent = (await findLink(w.tx, 'offer', request.params.token)) !== undefined;
      const state = isCurrent ? await change(w, visit.participantId!) : undefined;
      return state === undefined ? w.tx.rollBack(false) : true;
    });
    return sendOffer(request, reply, visit, isAnswered && answer === 'decline');
  });

  async function sendOffer(request: FastifyRequest, reply: FastifyReply, visit: Visit, isDeclined = false) {
    const offer = await loadOffer(visit.ctx, visit.participantId!);
    if (!offer) return sendLinkGone(request, reply);
    const isAnswered = isDeclined || hasConfirmedPlace(offer.enrolment);
    return sendPage(
      reply,
      offer.isOpen || isAnswered ? 200 : 410,
      <Offer {...{ view: visit.view, offer, isDeclined }} />,
    );
  }
};

async function sendBooking(reply: FastifyReply, { ctx, view, token, bookingId }: Visit, form: BookingForm) {
  const booking = await loadLinkedBooking(ctx, bookingId);
  return sendPage(reply, form.persons ? 400 : 200, <Booking {...{ view, token, booking, form }} />);
}

function toCancelVisit({ ctx, view, token, bookingId }: Visit, { params }: FastifyRequest<PlaceRoute>) {
  const place = { bookingId, participantId: toId(params.participantId) };
  const load = async () => {
    const { places } = await loadLinkedBooking(ctx, bookingId);
    const found = places.find(({ enrolment }) => enrolment.id === place.participantId);
    const { enrolment, name } = Problem.assertFound(found, 'Participant');
    const credit = await findShownCredit(ctx, enrolment, true);
    return { view, back: view.paths.booking(token), name, enrolment, credit };
  };
  return { ctx, place, load };
}

/** One page for unknown and ended links, so that it reveals nothing. */
function sendLinkGone({ view }: FastifyRequest, reply: FastifyReply) {
  const { linkGone, placeLinkGone, placeLinkAgain } = view.texts;
  return sendNotice(reply, 410, view, linkGone, placeLinkGone, placeLinkAgain);
}

/** The person that a form names for a place; none if its fields are empty. */
function readPerson(request: FastifyRequest, participantId: number) {
  const read = (field: PersonField) => readField(request, toFieldName(field, participantId)) ?? '';
  const firstname = normalizeTitle(read('firstname'));
  const lastname = normalizeTitle(read('lastname'));
  const person = { firstname, lastname, email: normalizeEmail(read('email')) };
  const isName = (name: string) => isTitle(name) && !hasLink(name);
  const isValid = { firstname: isName, lastname: isName, email: isAddress };
  if (personFields.every((field) => person[field] === '')) return [];
  return [{ participantId, person, faults: personFields.filter((field) => !isValid[field](person[field])) }];
}

const isAddress = (text: string) => Array.from(text).length <= 254 && isEmailAddress(text);
