const controls = /[\p{Cc}\u2028\u2029]/u;

/** Replaces each whitespace run that contains control characters or line breaks by a space; removes it at both ends. */
export function toSingleLine(text: string): string {
  if (!controls.test(text)) return text;
  return text.replace(/[\s\p{Cc}]+/gu, (run: string, index: number) => {
    if (!controls.test(run)) return run;
    return index === 0 || index + run.length === text.length ? '' : ' ';
  });
}

/** Normalizes line breaks to `\n` and removes control characters except tabs. */
export const normalizeLineBreaks = (text: string) =>
  text.replace(/\r\n|[\r\v\f\u0085\u2028\u2029]/g, '\n').replace(/[^\P{Cc}\t\n]/gu, '');

/** The stored form of a title: one line, trimmed, in Unicode NFC. */
export const normalizeTitle = (text: string) => toSingleLine(text).trim().normalize('NFC');

/** 1 to 255 code points. */
export const isTitle = (text: string) => text !== '' && Array.from(text).length <= 255;

/** A single e-mail address without a display name. */
export const addressPattern =
  '^[^\\s@<>()[\\]\\\\,;:"\\u0000-\\u001f\\u007f-\\u009f]+@[^\\s@<>()\\\\,;"\\u0000-\\u001f\\u007f-\\u009f]+$';
const address = new RegExp(addressPattern, 'u');
export const isEmailAddress = (text: string) => address.test(text);

/** An error's message for a log: one line, at most 300 characters. Node joins errors under an empty message. */
export function toOneLine(error: unknown): string {
  const { message, errors } =
    error instanceof Error ? (error as Error & { errors?: Error[] }) : { message: String(error) };
  const text = message || (errors ?? []).map((one) => one.message).join(', ');
  return text.replace(/[\s\p{Cc}]+/gu, ' ').slice(0, 300);
}
