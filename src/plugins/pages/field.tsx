type FieldProps = {
  name: string;
  label: string;
  type?: 'password' | 'text' | 'email' | 'tel' | 'date';
  autocomplete: string;
  isRequired?: boolean;
  value?: string | undefined;
  maxLength?: number;
  /** True for a text of several lines. */
  isLong?: boolean;
  /** True for the field to begin with. */
  hasFocus?: boolean;
  hint?: string | undefined;
  error: string | undefined;
};

/** Hidden from people: who fills it in is a program. */
export const Honeypot = ({ label }: { label: string }) => (
  <p class="website" aria-hidden="true">
    <label for="website">{label}</label>
    <input id="website" name="website" autocomplete="off" tabIndex={-1} />
  </p>
);

/** A labelled field with its hint and error. */
export function Field({ name, label, type = 'password', isRequired = true, isLong = false, ...props }: FieldProps) {
  const { autocomplete, value, maxLength, hasFocus = false, hint, error } = props;
  const [hintId, errorId] = [`${name}-hint`, `${name}-error`];
  const described = [error && errorId, hint && hintId].filter(Boolean).join(' ');
  const common = {
    ...{ id: name, name, autocomplete, maxLength, required: isRequired },
    ...(hasFocus && { autofocus: true }),
    'aria-describedby': described || undefined,
    'aria-invalid': error ? ('true' as const) : undefined,
  };
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {hint && (
        <p id={hintId} class="hint">
          {hint}
        </p>
      )}
      {error && (
        <p id={errorId} class="field-error">
          {error}
        </p>
      )}
      {isLong ? (
        <textarea {...common} rows={3} value={value} />
      ) : (
        <input {...common} {...({ type } as { type: 'text' })} value={value} />
      )}
    </div>
  );
}
