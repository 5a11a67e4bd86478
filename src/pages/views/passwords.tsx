import type { ComponentChildren } from 'preact';
import type { PersonalView, View } from '../view.ts';
import { Layout } from './layout.tsx';

/** What is wrong with a form that was sent, said at the field. */
export type Faults = { old?: string; password?: string; repeated?: string };

/** Who follows a link that was mailed chooses a password. */
export function ChoosePassword({ view, username, faults }: { view: View; username: string; faults: Faults }) {
  const { says, school } = view;
  return (
    <Layout view={view} title={getTitle(view, says.choosePassword, faults)}>
      <h1>{says.choosePassword}</h1>
      {school && <p>{says.choosePasswordFor(school.title)}</p>}
      <PasswordForm view={view} username={username} faults={faults} />
    </Layout>
  );
}

/** Who is signed in changes theirs. */
export function ChangePassword({ view, faults }: { view: PersonalView; faults: Faults }) {
  const { says, person } = view;
  return (
    <Layout view={view} title={getTitle(view, says.changePassword, faults)} current="password">
      <h1>{says.changePassword}</h1>
      <PasswordForm view={view} username={person.username} faults={faults}>
        <Field name="old" label={says.oldPassword} autocomplete="current-password" fault={faults.old} />
      </PasswordForm>
    </Layout>
  );
}

/** The title is the first thing a screen reader says of the answer. */
const getTitle = ({ says }: View, title: string, faults: Faults) =>
  Object.keys(faults).length > 0 ? says.errorTitle(title) : title;

type FormProps = { view: View; username: string; faults: Faults; children?: ComponentChildren };

/** Sent to its own address; the username is there for password managers. */
function PasswordForm({ view: { says }, username, faults, children }: FormProps) {
  return (
    <form method="post" class="fields">
      <p>
        <label for="username">{says.person.username}</label>
        <input id="username" autocomplete="username" value={username} readOnly />
      </p>
      {children}
      <Field
        name="password"
        label={says.newPassword}
        autocomplete="new-password"
        hint={says.passwordHint}
        fault={faults.password}
      />
      <Field name="repeated" label={says.repeatPassword} autocomplete="new-password" fault={faults.repeated} />
      <p>
        <button>{says.savePassword}</button>
      </p>
    </form>
  );
}

type FieldProps = {
  name: keyof Faults;
  label: string;
  autocomplete: 'current-password' | 'new-password';
  hint?: string;
  fault: string | undefined;
};

function Field({ name, label, autocomplete, hint, fault }: FieldProps) {
  const [hintId, faultId] = [`${name}-hint`, `${name}-fault`];
  const described = [fault && faultId, hint && hintId].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {hint && (
        <p id={hintId} class="hint">
          {hint}
        </p>
      )}
      {fault && (
        <p id={faultId} class="fault">
          {fault}
        </p>
      )}
      <input
        id={name}
        name={name}
        type="password"
        autocomplete={autocomplete}
        required
        aria-describedby={described || undefined}
        aria-invalid={fault ? 'true' : undefined}
      />
    </div>
  );
}
