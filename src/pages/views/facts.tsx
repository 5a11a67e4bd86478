import type { ComponentChildren } from 'preact';
import { dayInWords, spanEnds, toDateSpan, type Span } from '../../lib/date-format.ts';
import { isOnline, placeLines } from '../../lib/address-format.ts';
import { hasPlace, postponed, getEnrolmentStatus } from '../../reference/statuses.ts';
import { mayPlan, type Enrolment } from '../courses.ts';
import { safeLink } from '../html.ts';
import type { Texts } from '../texts.ts';
import type { PersonalView } from '../view.ts';

type Props = { view: PersonalView; enrolment: Enrolment };

/** How the person stands, in kind words. */
export function EnrolmentStatus({ view: { says }, enrolment }: Props) {
  const enrolmentStatus = getEnrolmentStatus(enrolment);
  const isPostponed = enrolment.dateStatusId === postponed;
  return (
    <>
      <p class={`standing ${isPostponed && hasPlace(enrolment) ? 'postponed' : enrolmentStatus}`}>
        {says.standings[enrolmentStatus]}
      </p>
      {isPostponed && <p>{says.postponed}</p>}
    </>
  );
}

/** When and where, and the way in for who has a place. */
export function Facts({ view, enrolment }: Props) {
  const { says } = view;
  const { zone, gatherings, eventUrl } = enrolment;
  const next = gatherings.find(({ isOver }) => !isOver);
  const where = whereabouts(enrolment, says);
  const link = hasPlace(enrolment) && !enrolment.isOver ? safeLink(eventUrl) : undefined;
  return (
    <dl>
      <Fact name={says.when}>
        <When view={view} span={enrolment} />
      </Fact>
      {gatherings.length > 1 && next && (
        <Fact name={says.next}>
          <When view={view} span={toDateSpan(next)} /> ({says.gatheringsCount(gatherings.length)})
        </Fact>
      )}
      {zone !== view.timezone && <Fact name={says.zone}>{zone}</Fact>}
      {where.length > 0 && (
        <Fact name={says.where}>
          <Lines lines={where} />
        </Fact>
      )}
      {link && (
        <Fact name={says.join}>
          <a href={link}>{says.joinNow}</a>
        </Fact>
      )}
    </dl>
  );
}

/** Where to go; of a date that takes place, also that nobody has said yet. */
function whereabouts(enrolment: Enrolment, says: Texts): string[] {
  const lines = [...(isOnline(enrolment) ? [says.online] : []), ...placeLines(enrolment)];
  return lines.length === 0 && mayPlan(enrolment) && !enrolment.isOver ? [says.noPlaceYet] : lines;
}

/** What came of a course that is over. */
export function Outcome({ view: { language, says }, enrolment }: Props) {
  const { hasPassed, hasCompleted, certificateIssuedAt } = enrolment;
  const result = hasPassed ? says.passed : hasCompleted ? says.completed : undefined;
  return (
    <>
      {result && <p class="standing confirmed">{result}</p>}
      {certificateIssuedAt && <p>{says.certificate(dayInWords(certificateIssuedAt, language))}</p>}
    </>
  );
}

/** Days and times, whose ends stay together in a narrow window. */
export const When = ({ view, span }: { view: PersonalView; span: Span }) => (
  <>
    {spanEnds(span, view.language).map(({ day, time }, n) => (
      <>
        {n === 0 ? capitalized(day) : ` – ${day}`}
        {time && (
          <>
            , <span class="time">{time}</span>
          </>
        )}
      </>
    ))}
  </>
);

/** Norwegian writes days in small letters, but at the beginning of a line. */
export const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

export const Lines = ({ lines }: { lines: string[] }) => (
  <>
    {lines.map((line, n) => (
      <>
        {n > 0 && <br />}
        {line}
      </>
    ))}
  </>
);
