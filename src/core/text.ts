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
const invisibleStart = /^(?:\s|(?=\p{Default_Ignorable_Code_Point})\p{Cf})+/u;
const invisibleRuns = /(?:\s|(?![\u{E0020}-\u{E007F}])(?=\p{Default_Ignorable_Code_Point})\p{Cf})+/gu;
const invisible = /[\s\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Removes white space and invisible format characters at both ends. */
function trimInvisible(text: string) {
  const rest = text.replace(invisibleStart, '');
  return rest.replace(invisibleRuns, (run, index: number) => (index + run.length === rest.length ? '' : run));
}

/** The combining marks that are followed by more than 29 others: to sort them takes quadratic time. */
const manyMarks = /[^\P{M}\u034f]{30}(?=[^\P{M}\u034f])/gu;
/** Puts a joiner, which is invisible, after each 30 combining marks in a row: the stream-safe text of UAX #15. */
export const toStreamSafe = (text: string) => text.replace(manyMarks, '$&\u034f');

/** The stored form of a title: one line, trimmed, in NFC; a text of more than `maxLength` characters stays as it is. */
export function normalizeTitle(text: string, maxLength = 255) {
  if (text.length > 2 * maxLength) return text;
  const line = toStreamSafe(trimInvisible(toSingleLine(text))).normalize('NFC');
  return line.replace(invisible, '') === '' ? '' : line;
}

/** The stored form of an e-mail address: as a title, without format characters. */
export function normalizeEmail(text: string, maxLength = 254) {
  if (text.length > 2 * maxLength) return text;
  return normalizeTitle(text, maxLength)
    .replace(/\p{Cf}/gu, '')
    .trim();
}

/** Apostrophes and the signs used for them, and hyphens, dashes and the soft hyphen. The SQL function has them too. */
const apostrophes = /['`\u00b4\u02b9\u02bb-\u02bf\u02ca\u02cb\u055a\u2018\u2019\u201b\u2032\u2035\ua78c\uff07\uff40]/g;
const hyphens = /[-\u00ad\u02d7\u058a\u05be\u2010-\u2015\u2043\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d]/g;

/** The form in which names and titles are compared, as the SQL function `fold_text` returns it. */
export const foldText = (text: string) =>
  toStreamSafe(text.toLowerCase())
    .normalize('NFC')
    .replace(/\p{White_Space}+/gu, ' ')
    .replace(/^ | $/g, '')
    .replace(apostrophes, "'")
    .replace(hyphens, '-');

const latinLetters: Record<string, string> = {
  ...{ ø: 'o', œ: 'o', đ: 'd', ð: 'd', ł: 'l', ı: 'i', ħ: 'h', ŋ: 'n', ŧ: 't' },
  ...{ æ: 'ae', ß: 'ss', þ: 'th' },
};

/**
 * The form in which a search compares texts, as the SQL function `fold_search` returns it: that of `foldText` without
 * accents, where å, aa and a are equal, ø, oe and o, and æ and ae. The start of a text has the start of its form.
 */
export const foldSearch = (text: string) =>
  foldText(text)
    .normalize('NFD')
    .replace(/[\u0300-\u036f]+/g, '')
    .replace(/[øœđðłıħŋŧæßþ]/g, (letter) => latinLetters[letter]!)
    .replace(/aa+/g, 'a')
    .replace(/oe+/g, 'o');

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** A text for HTML and XML. */
export const escapeMarkup = (text: string) => text.replaceAll(/[&<>"]/g, (sign) => entities[sign]!);

/** 1 to 255 code points. */
export const isTitle = (text: string) => text !== '' && Array.from(text).length <= 255;

/** True for a name that a mail could show as a link, also in letters that look the same; false for longer texts. */
export const hasLink = (text: string) =>
  text.length <= 510 && /:\/\/|www[.\u3002]/i.test(text.normalize('NFKC').replace(invisible, ''));

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

/** Choosing from thousands of values takes milliseconds; clients send fewer than 500 characters. */
const maxLength = 500;

/** The value of a header that lists choices, without those beyond the bound; undefined if none is left. */
export function truncateHeaderList(value: string | undefined): string | undefined {
  if (value === undefined || value.length <= maxLength) return value;
  return value.slice(0, Math.max(0, value.lastIndexOf(',', maxLength))) || undefined;
}
