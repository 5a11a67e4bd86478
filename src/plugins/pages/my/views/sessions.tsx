import { formatDay } from '../../../../core/date-format.ts';
import type { SessionItem } from '../../../../domains/school/auth/session-service.ts';
import { fill, fillCount } from '../../fill.ts';
import type { PersonalView } from '../view.ts';
import { capitalized } from '../../facts.tsx';
import { Field } from '../../field.tsx';
import { Layout } from './layout.tsx';
import { toTitle, type FieldErrors } from './passwords.tsx';

export type SessionsProps = {
  view: PersonalView;
  sessions: SessionItem[];
  errors: Pick<FieldErrors, 'old'> & { chosen?: string };
  /** The number of sessions that were just ended. */
  ended?: number;
};

/** Where the person is signed in, with a form that ends other sessions. */
export function Sessions({ view, sessions, errors, ended }: SessionsProps) {
  const { texts } = view;
  const others = sessions.filter(({ isCurrent }) => !isCurrent);
  return (
    <Layout view={view} title={toTitle(view, texts.sessions, errors)} current="password">
      <h1>{texts.sessions}</h1>
      <p>{texts.sessionsHelp}</p>
      {ended !== undefined && <p role="status">{fillCount(texts.sessionsEnded, ended)}</p>}
      <h2>{texts.thisSession}</h2>
      {sessions
        .filter(({ isCurrent }) => isCurrent)
        .map((session) => (
          <p key={session.id}>
            <Times view={view} session={session} />
          </p>
        ))}
      <h2 id="others">{texts.otherSessions}</h2>
      {others.length === 0 && <p>{texts.noOtherSessions}</p>}
      {others.length > 0 && (
        <form method="post" class="fields">
          <fieldset aria-labelledby="others" aria-describedby={errors.chosen && 'chosen-error'}>
            {errors.chosen && (
              <p id="chosen-error" class="field-error">
                {errors.chosen}
              </p>
            )}
            {others.map((session) => (
              <label key={session.id} class="choice">
                <input type="checkbox" name="session" value={session.id} />
                <span>
                  <Times view={view} session={session} />
                </span>
              </label>
            ))}
          </fieldset>
          <Field name="old" label={texts.oldPassword} autocomplete="current-password" error={errors.old} />
          <p class="buttons">
            <button name="which" value="chosen">
              {texts.endChosen}
            </button>
            <button name="which" value="all" class="secondary">
              {texts.endOthers}
            </button>
          </p>
        </form>
      )}
    </Layout>
  );
}

/** Begin and last use, in the service's time zone as PostgreSQL writes them. */
function Times({ view: { language, texts }, session }: { view: PersonalView; session: SessionItem }) {
  const [begun, used] = [session.createdAt, session.usedAt].map((moment) => ({
    day: formatDay(moment.slice(0, 10), language),
    time: moment.slice(11, 16),
  })) as [Moment, Moment];
  return (
    <>
      {capitalized(begun.day)}, <span class="time">{fill(texts.sessionBegun, begun.time)}</span>,{' '}
      <span class="time">
        {fill(texts.sessionUsed, begun.day === used.day ? used.time : `${used.day}, ${used.time}`)}
      </span>
    </>
  );
}
type Moment = { day: string; time: string };
