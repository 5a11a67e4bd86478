import type { ComponentChildren } from 'preact';
import { fill } from '../../fill.ts';
import type { PersonalView, View } from '../view.ts';
import { Field } from '../../field.tsx';
import { Layout } from './layout.tsx';

/** Error messages by field. */
export type FieldErrors = { old?: string; password?: string; repeated?: string };

/** Form for a mailed password link. */
export function ChoosePassword({ view, username, errors }: { view: View; username: string; errors: FieldErrors }) {
  const { texts, school } = view;
  return (
    <Layout view={view} title={toTitle(view, texts.choosePassword, errors)}>
      <h1>{texts.choosePassword}</h1>
      {school && <p>{fill(texts.choosePasswordFor, school.title)}</p>}
      <PasswordForm view={view} username={username} errors={errors} />
    </Layout>
  );
}

/** Form for signed-in people. */
export function ChangePassword({ view, errors }: { view: PersonalView; errors: FieldErrors }) {
  const { texts, person } = view;
  return (
    <Layout view={view} title={toTitle(view, texts.changePassword, errors)} current="password">
      <h1>{texts.changePassword}</h1>
      <PasswordForm view={view} username={person.username} errors={errors}>
        <Field name="old" label={texts.oldPassword} autocomplete="current-password" error={errors.old} />
      </PasswordForm>
      <p>
        <a href={view.paths.sessions}>{texts.sessions}</a>
      </p>
    </Layout>
  );
}

/** Errors go into the title, which screen readers read first. */
export const toTitle = ({ texts }: View, title: string, errors: object) =>
  Object.keys(errors).length > 0 ? fill(texts.errorTitle, title) : title;

type FormProps = { view: View; username: string; errors: FieldErrors; children?: ComponentChildren };

/** Posts to its own URL; the username field is for password managers. */
function PasswordForm({ view: { texts }, username, errors, children }: FormProps) {
  return (
    <form method="post" class="fields">
      <p>
        <label for="username">{texts.fields.username}</label>
        <input id="username" autocomplete="username" value={username} readOnly />
      </p>
      {children}
      <Field
        name="password"
        label={texts.newPassword}
        autocomplete="new-password"
        hint={texts.passwordHint}
        error={errors.password}
      />
      <Field name="repeated" label={texts.repeatPassword} autocomplete="new-password" error={errors.repeated} />
      <p>
        <button>{texts.savePassword}</button>
      </p>
    </form>
  );
}
