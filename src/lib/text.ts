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

/** White space and invisible format characters; not the tag characters that end the emoji of a flag. */
const invisibleEnds =
  /^(?:\s|(?=\p{Default_Ignorable_Code_Point})\p{Cf})+|(?:\s|(?![\u{E0020}-\u{E007F}])(?=\p{Default_Ignorable_Code_Point})\p{Cf})+$/gu;
const invisible = /[\s\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** The stored form of a title: one line, trimmed, in Unicode NFC; empty if nothing in it is visible. */
export function normalizeTitle(text: string) {
  const line = toSingleLine(text).replace(invisibleEnds, '').normalize('NFC');
  return line.replace(invisible, '') === '' ? '' : line;
}

/** The stored form of an e-mail address: as a title, without format characters. */
export const normalizeEmail = (text: string) =>
  normalizeTitle(text)
    .replace(/\p{Cf}/gu, '')
    .trim();

/** 1 to 255 code points. */
export const isTitle = (text: string) => text !== '' && Array.from(text).length <= 255;

const controlRange = '\\u0000-\\u001f\\u007f-\\u009f';
const atom = `[^.\\s@<>()[\\]\\\\,;:"${controlRange}]+`;
const labelEnd = `[^-.\\s@<>()[\\]\\\\,;:"${controlRange}]`;
const label = `${labelEnd}(?:${atom.slice(0, -1)}*${labelEnd})?`;
const literal = `\\[[^\\s@<>()[\\]\\\\,;"${controlRange}]+\\]`;
/** A single e-mail address without a display name: no dot or hyphen at the wrong place. */
export const addressPattern = `^${atom}(?:\\.${atom})*@(?:${label}(?:\\.${label})*|${literal})$`;
const address = new RegExp(addressPattern, 'u');
export const isEmailAddress = (text: string) => address.test(text);

/** An error's message for a log: one line, at most 300 characters. Node joins errors under an empty message. */
export function toOneLine(error: unknown): string {
  const { message, errors } =
    error instanceof Error ? (error as Error & { errors?: Error[] }) : { message: String(error) };
  const text = message || (errors ?? []).map((one) => one.message).join(', ');
  return text.replace(/[\s\p{Cc}]+/gu, ' ').slice(0, 300);
}
