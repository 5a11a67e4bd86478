import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../../core/errors.ts';
import type { Ctx } from '../../../database/context.ts';
import type { CancellationTerms } from '../../../domains/bookings/participant-changes/schema.ts';
import {
  cancelOwnPlace,
  loadCancellationTerms,
  type OwnPlace,
} from '../../../domains/bookings/participant-changes/deregistration-service.ts';
import { readField } from '../forms.ts';
import { sendPage } from '../send-page.tsx';
import { isOpen } from '../cancellation-terms.ts';
import { Cancel, type CancelProps } from './views/cancel.tsx';

/** What the page shows; throws not_found. */
type Shown = Pick<CancelProps, 'view' | 'enrolment' | 'name' | 'back' | 'credit'>;
type CancelVisit = { ctx: Ctx; place: OwnPlace; load(): Promise<Shown> };

/** Shows what a cancellation would cost, or why there can be none. */
export async function sendCancelForm(reply: FastifyReply, visit: CancelVisit) {
  const shown = await visit.load();
  return sendTerms(reply, shown, await requireTerms(visit));
}

async function requireTerms({ ctx, place: { participantId } }: CancelVisit) {
  const terms = await loadCancellationTerms(ctx, ctx.db, [participantId]);
  return Problem.assertFound(terms.get(participantId), 'Participant');
}

/** Cancels the place if the terms are still those that the form has shown. */
export async function cancelByForm(request: FastifyRequest, reply: FastifyReply, visit: CancelVisit) {
  const courseDateId = Number(readField(request, 'date'));
  const acceptsFee = readField(request, 'fee') === 'yes';
  const result = await cancelOwnPlace(visit.ctx, visit.place, { courseDateId, acceptsFee });
  const terms = result === 'done' ? { kind: 'left' as const } : result;
  return sendTerms(reply, await visit.load(), terms, isOpen(terms));
}

function sendTerms(reply: FastifyReply, shown: Shown, terms: CancellationTerms, isChanged = false) {
  const status = terms.kind === 'closed' ? 410 : isChanged ? 409 : 200;
  return sendPage(reply, status, <Cancel {...shown} terms={terms} isChanged={isChanged} />);
}
