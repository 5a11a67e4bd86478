import { toDateSpan } from '../../../../core/date-format.ts';
import { hasConfirmedPlace } from '../../../../core/reference/statuses.ts';
import { safeLink } from '../../../../core/safe-link.ts';
import type { CancellationTerms } from '../../../../domains/bookings/participant-changes/schema.ts';
import type { PlaceCredit } from '../../../../domains/bookings/participant-changes/deregistration-service.ts';
import type { ShownGathering } from '../../../../domains/courses/gatherings/loaders.ts';
import { canBeInCalendar } from '../courses.ts';
import type { Description } from '../../../../domains/courses/courses/description-service.ts';
import { describeTerms, isOpen } from '../../cancellation-terms.ts';
import { cancelLabel, Credited } from './cancel.tsx';
import { Fact, Gathering, Gatherings, Lines } from '../../facts.tsx';
import { Facts, Outcome, EnrolmentStatus, type EnrolmentProps } from './facts.tsx';
import { Layout } from './layout.tsx';

type CourseProps = EnrolmentProps & {
  instructors: string[];
  descriptions: Description[];
  terms: CancellationTerms | undefined;
  credit: PlaceCredit | undefined;
};

/** The page of one enrolment. */
export function Course({ view, enrolment, instructors, descriptions, terms, credit }: CourseProps) {
  const { texts, paths } = view;
  const { title, gatherings } = enrolment;
  return (
    <Layout view={view} title={title} current="courses">
      <h1>{title}</h1>
      {enrolment.isOver ? (
        <Outcome view={view} enrolment={enrolment} />
      ) : (
        <EnrolmentStatus view={view} enrolment={enrolment} />
      )}
      <Credited view={view} credit={credit} />
      <Facts view={view} enrolment={enrolment} />
      {instructors.length > 0 && (
        <dl>
          <Fact name={texts.instructors}>
            <Lines lines={instructors} />
          </Fact>
        </dl>
      )}
      {canBeInCalendar(enrolment) && !enrolment.isOver && (
        <p>
          <a class="button" href={paths.calendar(enrolment.id)}>
            {texts.calendar}
          </a>
        </p>
      )}
      {isOpen(terms) && (
        <p>
          <a href={paths.cancel(enrolment.id)}>{cancelLabel(texts, enrolment)}</a>{' '}
          <span class="hint">{describeTerms(view, terms, texts.cancel)}</span>
        </p>
      )}
      <Gatherings texts={texts}>
        {gatherings.map((gathering) => (
          <OwnGathering view={view} enrolment={enrolment} gathering={gathering} />
        ))}
      </Gatherings>
      {descriptions.length > 0 && <About view={view} descriptions={descriptions} />}
      <p>
        <a href={paths.courses}>{texts.backToCourses}</a>
      </p>
    </Layout>
  );
}

function About({ view: { texts }, descriptions }: Pick<CourseProps, 'view' | 'descriptions'>) {
  return (
    <section aria-labelledby="about">
      <h2 id="about">{texts.courseTexts.description}</h2>
      {descriptions.map(({ name, html }) => (
        <>
          {name !== 'description' && texts.courseTexts[name] && <h3>{texts.courseTexts[name]}</h3>}
          <div class="text" dangerouslySetInnerHTML={{ __html: html }} />
        </>
      ))}
    </section>
  );
}

function OwnGathering({ view, enrolment, gathering }: EnrolmentProps & { gathering: ShownGathering }) {
  const { eventUrl, isOver } = gathering;
  const link = hasConfirmedPlace(enrolment) && !isOver ? safeLink(eventUrl) : undefined;
  return (
    <>
      <Gathering view={view} span={toDateSpan(gathering)} {...gathering} />
      {link && (
        <p>
          <a href={link}>{view.texts.joinNow}</a>
        </p>
      )}
    </>
  );
}
