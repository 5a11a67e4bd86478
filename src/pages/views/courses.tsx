import { mayPlan, type Enrolment } from '../courses.ts';
import type { PersonalView } from '../view.ts';
import { Facts, Outcome, EnrolmentStatus, When } from './facts.tsx';
import { Layout } from './layout.tsx';

type Props = { view: PersonalView; inFlight: Enrolment[]; past: Enrolment[] };

/** The first page: what is to come, and what is over. */
export function Courses({ view, inFlight, past }: Props) {
  const { says, person } = view;
  return (
    <Layout view={view} title={says.courses} current="courses">
      <h1>{says.greeting(person.firstname ?? '')}</h1>
      <section aria-labelledby="coming">
        <h2 id="coming">{says.inFlight}</h2>
        {inFlight.length === 0 && <p>{says.noneComing}</p>}
        <ul class="cards">
          {inFlight.map((enrolment) => (
            <li key={enrolment.id}>
              <Coming view={view} enrolment={enrolment} />
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="past">
        <h2 id="past">{says.past}</h2>
        {past.length === 0 && <p>{says.nonePast}</p>}
        <ul class="cards">
          {past.map((enrolment) => (
            <li key={enrolment.id}>
              <Past view={view} enrolment={enrolment} />
            </li>
          ))}
        </ul>
      </section>
    </Layout>
  );
}

type One = { view: PersonalView; enrolment: Enrolment };

function Coming({ view, enrolment }: One) {
  const { says, paths } = view;
  return (
    <>
      <h3>
        <a href={paths.course(enrolment.id)}>{enrolment.title}</a>
      </h3>
      <EnrolmentStatus view={view} enrolment={enrolment} />
      <Facts view={view} enrolment={enrolment} />
      {mayPlan(enrolment) && (
        <p>
          <a class="button" href={paths.calendar(enrolment.id)}>
            {says.calendar}
            <span class="unseen">{says.calendarFor(enrolment.title)}</span>
          </a>
        </p>
      )}
    </>
  );
}

function Past({ view, enrolment }: One) {
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
