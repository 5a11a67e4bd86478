import { formatMoney, type Minor } from '../../../../core/money.ts';
import { participantStatus } from '../../../../core/reference/statuses.ts';
import type { CancellationTerms } from '../../../../domains/bookings/participant-changes/schema.ts';
import type { PlaceCredit } from '../../../../domains/bookings/participant-changes/deregistration-service.ts';
import type { Enrolment } from '../courses.ts';
import { fill } from '../../fill.ts';
import { describeTerms, isOpen, type OpenTerms } from '../../cancellation-terms.ts';
import type { Texts } from '../../texts.ts';
import type { View } from '../view.ts';
import { capitalized, Fact } from '../../facts.tsx';
import { Facts } from './facts.tsx';
import { Layout } from './layout.tsx';

export const cancelLabel = ({ cancel }: Texts, { statusId }: Enrolment) =>
  statusId === participantStatus.waiting ? cancel.leaveWaitingList : cancel.cancelPlace;

export type CancelProps = {
  view: View;
  enrolment: Enrolment;
  /** Name of the participant, on the page of the payer. */
  name: string | undefined;
  terms: CancellationTerms;
  /** The amount credited for the place. */
  credit: PlaceCredit | undefined;
  /** The terms are not those that the person has confirmed. */
  isChanged: boolean;
  /** The page of the course, or of the booking. */
  back: string;
};

/** The page on which a participant or a payer confirms the cancellation of a place, and sees its result. */
export function Cancel(props: CancelProps) {
  const { view, enrolment, name, terms, back } = props;
  const { cancel: texts } = view.texts;
  const title = isOpen(terms) ? texts.title : terms.kind === 'left' ? texts.done : texts.closed;
  return (
    <Layout view={view} title={title} current="courses">
      <h1>{title}</h1>
      <Outcome {...props} />
      <h2>{enrolment.title}</h2>
      <Facts view={view} enrolment={enrolment}>
        {name !== undefined && (
          <Fact name={texts.participant}>{name === '' ? view.texts.booking.withoutName : name}</Fact>
        )}
      </Facts>
      {isOpen(terms) && <Confirmation {...props} terms={terms} />}
      <p>
        <a href={back}>{name === undefined ? texts.back : texts.backToBooking}</a>
      </p>
    </Layout>
  );
}

/** The amount credited for a place that was canceled. */
export function Credited({ view, credit }: { view: View; credit: PlaceCredit | undefined }) {
  if (!credit) return null;
  const { credited, returned } = view.texts.cancel;
  const format = (amount: Minor) => formatMoney(amount, credit.currency, view.language);
  return (
    <p>
      {fill(credited, format(credit.credited))}
      {credit.returned > 0n && ` ${fill(returned, format(credit.returned))}`}
    </p>
  );
}

function Outcome({ view, enrolment, terms, isChanged, credit }: CancelProps) {
  const { cancel: texts } = view.texts;
  if (terms.kind === 'closed') return <p>{texts.reasons[terms.reason]}</p>;
  if (terms.kind === 'left') {
    const hasFee = enrolment.statusId === participantStatus.deregisteredWithFee;
    return (
      <>
        <p role="status">{hasFee ? texts.doneWithFee : texts.doneFree}</p>
        <Credited view={view} credit={credit} />
      </>
    );
  }
  return isChanged ? (
    <p role="alert" class="field-error">
      {texts.changed}
    </p>
  ) : null;
}

function Confirmation({ view, enrolment, name, terms }: CancelProps & { terms: OpenTerms }) {
  const { cancel: texts } = view.texts;
  const isWaiting = enrolment.statusId === participantStatus.waiting;
  const label = name === undefined ? cancelLabel(view.texts, enrolment) : texts.cancelThePlace;
  return (
    <form method="post">
      <p>{capitalized(describeTerms(view, terms, texts))}</p>
      <p>{isWaiting ? texts.placeOnListEnds : texts.placeEnds}</p>
      {view.person?.email && <p>{texts.mail}</p>}
      {name && <p>{fill(texts.mailTo, name)}</p>}
      {name !== undefined && <p>{terms.kind === 'fee' ? texts.amountsStay : texts.unpaidIsCredited}</p>}
      <input type="hidden" name="date" value={enrolment.courseDateId} />
      {terms.kind === 'fee' && <input type="hidden" name="fee" value="yes" />}
      <p class="buttons">
        <button>{terms.kind === 'fee' ? texts.confirmWithFee : label}</button>
      </p>
    </form>
  );
}
