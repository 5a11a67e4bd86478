import { spanOf } from '../../core/days.ts';
import { locationLines } from '../../core/places.ts';
import { hasPlace } from '../../reference/statuses.ts';
import { mayPlan, type Enrolment, type Meeting } from '../courses.ts';
import { safeHtml, safeLink } from '../html.ts';
import type { PersonalView } from '../view.ts';
import { Fact, Facts, Lines, Outcome, Standing, When } from './facts.tsx';
import { Layout } from './layout.tsx';

type Props = { view: PersonalView; enrolment: Enrolment };

/** Everything about one of the person's course dates. */
export function Course({ view, enrolment, instructors }: Props & { instructors: string[] }) {
  const { says, paths } = view;
  const { title, meetings, texts } = enrolment;
  const described = Object.entries(texts)
    .map(([name, html]) => ({ heading: says.courseTexts[name as keyof typeof texts], html: safeHtml(html) }))
    .filter(({ html }) => html !== '');
  return (
    <Layout view={view} title={title} current="courses">
      <h1>{title}</h1>
      {enrolment.isOver ? (
        <Outcome view={view} enrolment={enrolment} />
      ) : (
        <Standing view={view} enrolment={enrolment} />
      )}
      <Facts view={view} enrolment={enrolment} />
      {instructors.length > 0 && (
        <dl>
          <Fact name={says.instructors}>
            <Lines lines={instructors} />
          </Fact>
        </dl>
      )}
      {mayPlan(enrolment) && !enrolment.isOver && (
        <p>
          <a class="button" href={paths.calendar(enrolment.id)}>
            {says.calendar}
          </a>
        </p>
      )}
      {meetings.length > 0 && (
        <section aria-labelledby="meetings">
          <h2 id="meetings">{says.meetings}</h2>
          <ol class="meetings">
            {meetings.map((meeting) => (
              <li>
                <MeetingItem view={view} enrolment={enrolment} meeting={meeting} />
              </li>
            ))}
          </ol>
        </section>
      )}
      {described.length > 0 && (
        <section aria-labelledby="about">
          <h2 id="about">{says.aboutCourse}</h2>
          {described.map(({ heading, html }) => (
            <>
              {heading && <h3>{heading}</h3>}
              <div class="text" dangerouslySetInnerHTML={{ __html: html }} />
            </>
          ))}
        </section>
      )}
      <p>
        <a href={paths.courses}>{says.backToCourses}</a>
      </p>
    </Layout>
  );
}

function MeetingItem({ view, enrolment, meeting }: Props & { meeting: Meeting }) {
  const { theme, description, eventUrl, isOver } = meeting;
  const lines = locationLines(meeting.location);
  const link = hasPlace(enrolment) && !isOver ? safeLink(eventUrl) : undefined;
  return (
    <>
      <p class="when">
        <When view={view} span={spanOf(meeting)} />
      </p>
      {theme && <p>{theme}</p>}
      {description && <p>{description}</p>}
      {lines.length > 0 && (
        <p>
          <Lines lines={lines} />
        </p>
      )}
      {link && (
        <p>
          <a href={link}>{view.says.joinNow}</a>
        </p>
      )}
    </>
  );
}
