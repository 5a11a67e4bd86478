import { fill } from '../../fill.ts';
import type { LinkedInterest } from '../../../../domains/courses/interests/service.ts';
import type { View } from '../view.ts';
import { Layout } from './layout.tsx';

type InterestProps = {
  view: View & Required<Pick<View, 'school'>>;
  interest: Pick<LinkedInterest, 'title' | 'isConfirmed' | 'isNotified'>;
};

/** The page that confirms or ends the interest in a course. */
export function Interest({ view, interest: { title, isConfirmed, isNotified } }: InterestProps) {
  const texts = view.texts.interest;
  const status = isNotified ? texts.notified : isConfirmed ? texts.confirmed : fill(texts.open, view.school.title);
  return (
    <Layout view={view} title={title}>
      <h1>{title}</h1>
      <p role={isConfirmed ? 'status' : undefined}>{status}</p>
      <form method="post">
        <p class="buttons">
          {!isConfirmed && (
            <button name="answer" value="confirm">
              {texts.confirm}
            </button>
          )}
          <button name="answer" value="end" class="secondary">
            {texts.end}
          </button>
        </p>
      </form>
    </Layout>
  );
}
