import { canBeInCalendar, type Enrolment } from '../courses.ts';
import { fill } from '../../fill.ts';
import type { PersonalView } from '../view.ts';
import { When } from '../../facts.tsx';
import { Facts, Outcome, EnrolmentStatus, type EnrolmentProps } from './facts.tsx';
import { Layout } from './layout.tsx';

type Props = { view: PersonalView; upcoming: Enrolment[]; past: Enrolment[] };

/** The home page: upcoming and past courses. */
export function Courses({ view, upcoming, past }: Props) {
  const { texts, person } = view;
  return (
    <Layout view={view} title={texts.courses} current="courses">
      <h1>{person.firstname ? fill(texts.greeting, person.firstname) : texts.greetingWithoutName}</h1>
      <section aria-labelledby="coming">
        <h2 id="coming">{texts.upcoming}</h2>
        {upcoming.length === 0 && <p>{texts.noneComing}</p>}
        <ul class="cards">
          {upcoming.map((enrolment) => (
            <li key={enrolment.id}>
              <UpcomingCourse view={view} enrolment={enrolment} />
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="past">
        <h2 id="past">{texts.past}</h2>
        {past.length === 0 && <p>{texts.nonePast}</p>}
        <ul class="cards">
          {past.map((enrolment) => (
            <li key={enrolment.id}>
              <PastCourse view={view} enrolment={enrolment} />
            </li>
          ))}
        </ul>
      </section>
    </Layout>
  );
}

function UpcomingCourse({ view, enrolment }: EnrolmentProps) {
  const { texts, paths } = view;
  return (
    <>
      <h3>
        <a href={paths.course(enrolment.id)}>{enrolment.title}</a>
      </h3>
      <EnrolmentStatus view={view} enrolment={enrolment} />
      <Facts view={view} enrolment={enrolment} />
      {canBeInCalendar(enrolment) && (
        <p>
          <a class="button" href={paths.calendar(enrolment.id)}>
            {texts.calendar}
            <span class="unseen">{fill(texts.calendarFor, enrolment.title)}</span>
          </a>
        </p>
      )}
    </>
  );
}

function PastCourse({ view, enrolment }: EnrolmentProps) {
  const { id, title, startAt, endAt } = enrolment;
  return (
    <>
      <h3>
        <a href={view.paths.course(id)}>{title}</a>
      </h3>
      <p>
        <When view={view} span={{ startAt, endAt, startTimeAt: null, endTimeAt: null }} />
      </p>
      <Outcome view={view} enrolment={enrolment} />
    </>
  );
}
