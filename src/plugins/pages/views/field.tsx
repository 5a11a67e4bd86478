type FieldProps = {
  name: string;
  label: string;
  type?: 'password' | 'text' | 'email';
  autocomplete: 'current-password' | 'new-password' | 'off';
  isRequired?: boolean;
  value?: string | undefined;
  hint?: string;
  error: string | undefined;
};

export function Field({
  name,
  label,
  type = 'password',
  autocomplete,
  isRequired = true,
  value,
  hint,
  error,
}: FieldProps) {
  const [hintId, errorId] = [`${name}-hint`, `${name}-error`];
  const described = [error && errorId, hint && hintId].filter(Boolean).join(' ');
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
      <input
        id={name}
        name={name}
        {...({ type } as { type: 'text' })}
        autocomplete={autocomplete}
        required={isRequired}
        value={value}
        aria-describedby={described || undefined}
        aria-invalid={error ? 'true' : undefined}
      />
    </div>
  );
}
