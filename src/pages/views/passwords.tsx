import type { ComponentChildren } from 'preact';
import type { PersonalView, View } from '../view.ts';
import { Layout } from './layout.tsx';

/** Error messages by field. */
export type FieldErrors = { old?: string; password?: string; repeated?: string };

/** Form for a mailed password link. */
export function ChoosePassword({ view, username, faults }: { view: View; username: string; faults: FieldErrors }) {
  const { texts, school } = view;
  return (
    <Layout view={view} title={toTitle(view, texts.choosePassword, faults)}>
      <h1>{texts.choosePassword}</h1>
      {school && <p>{texts.choosePasswordFor(school.title)}</p>}
      <PasswordForm view={view} username={username} faults={faults} />
    </Layout>
  );
}

/** Form for signed-in people. */
export function ChangePassword({ view, faults }: { view: PersonalView; faults: FieldErrors }) {
  const { texts, person } = view;
  return (
    <Layout view={view} title={toTitle(view, texts.changePassword, faults)} current="password">
      <h1>{texts.changePassword}</h1>
      <PasswordForm view={view} username={person.username} faults={faults}>
        <Field name="old" label={texts.oldPassword} autocomplete="current-password" fault={faults.old} />
      </PasswordForm>
    </Layout>
  );
}

/** Errors go into the title, which screen readers read first. */
const toTitle = ({ texts }: View, title: string, faults: FieldErrors) =>
  Object.keys(faults).length > 0 ? texts.errorTitle(title) : title;

type FormProps = { view: View; username: string; faults: FieldErrors; children?: ComponentChildren };

/** Posts to its own URL; the username field is for password managers. */
function PasswordForm({ view: { texts }, username, faults, children }: FormProps) {
  return (
    <form method="post" class="fields">
      <p>
        <label for="username">{texts.person.username}</label>
        <input id="username" autocomplete="username" value={username} readOnly />
      </p>
      {children}
      <Field
        name="password"
        label={texts.newPassword}
        autocomplete="new-password"
        hint={texts.passwordHint}
        fault={faults.password}
      />
      <Field name="repeated" label={texts.repeatPassword} autocomplete="new-password" fault={faults.repeated} />
      <p>
        <button>{texts.savePassword}</button>
      </p>
    </form>
  );
}

type FieldProps = {
  name: keyof FieldErrors;
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
