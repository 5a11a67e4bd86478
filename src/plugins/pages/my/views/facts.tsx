import type { ComponentChildren } from 'preact';
import { formatDay, toDateSpan } from '../../../../core/date-format.ts';
import { isOnline, venueLines } from '../../../../core/address-format.ts';
import { hasConfirmedPlace, postponed, getEnrolmentStatus } from '../../../../core/reference/statuses.ts';
import { safeLink } from '../../../../core/safe-link.ts';
import { canBeInCalendar, type Enrolment } from '../courses.ts';
import { Fact, Lines, When } from '../../facts.tsx';
import { fill } from '../../fill.ts';
import type { Texts } from '../../texts.ts';
import type { View } from '../view.ts';

export type EnrolmentProps = { view: View; enrolment: Enrolment };

export function EnrolmentStatus({ view: { texts }, enrolment }: EnrolmentProps) {
  const enrolmentStatus = getEnrolmentStatus(enrolment);
  const isPostponed = enrolment.dateStatusId === postponed;
  return (
    <>
      <p class={`enrolment-status ${isPostponed && hasConfirmedPlace(enrolment) ? 'postponed' : enrolmentStatus}`}>
        {texts.enrolmentStatuses[enrolmentStatus]}
      </p>
      {isPostponed && <p>{texts.postponedHelp}</p>}
    </>
  );
}

/** Time, place and, for participants with a seat, the meeting's link. */
export function Facts({ view, enrolment, children }: EnrolmentProps & { children?: ComponentChildren }) {
  const { texts } = view;
  const { zone, gatherings, eventUrl } = enrolment;
  const next = gatherings.find(({ isOver }) => !isOver);
  const where = toPlaceLines(enrolment, texts);
  const link = hasConfirmedPlace(enrolment) && !enrolment.isOver ? safeLink(eventUrl) : undefined;
  return (
    <dl>
      <Fact name={texts.when}>
        <When view={view} span={enrolment} />
      </Fact>
      {gatherings.length > 1 && next && (
        <Fact name={texts.next}>
          <When view={view} span={toDateSpan(next)} /> ({fill(texts.gatheringsCount, gatherings.length)})
        </Fact>
      )}
      {zone !== view.timezone && <Fact name={texts.zone}>{zone}</Fact>}
      {where.length > 0 && (
        <Fact name={texts.where}>
          <Lines lines={where} />
        </Fact>
      )}
      {link && (
        <Fact name={texts.join}>
          <a href={link}>{texts.joinNow}</a>
        </Fact>
      )}
      {children}
    </dl>
  );
}

/** The place, or a note that it is not decided yet. */
function toPlaceLines(enrolment: Enrolment, texts: Texts): string[] {
  const lines = [...(isOnline(enrolment) ? [texts.online] : []), ...venueLines(enrolment)];
  return lines.length === 0 && canBeInCalendar(enrolment) && !enrolment.isOver ? [texts.placeLater] : lines;
}

/** The result of a past course. */
export function Outcome({ view: { language, texts }, enrolment }: EnrolmentProps) {
  const { hasPassed, hasCompleted, certificateIssuedAt } = enrolment;
  const result = hasPassed ? texts.passed : hasCompleted ? texts.completed : undefined;
  return (
    <>
      {result && <p class="enrolment-status confirmed">{result}</p>}
      {certificateIssuedAt && <p>{fill(texts.certificate, formatDay(certificateIssuedAt, language))}</p>}
    </>
  );
}
