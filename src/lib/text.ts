/** Control characters and the two line separators of Unicode. */
const controls = /[\p{Cc}\u2028\u2029]/u;

/** A text of one line: a run of blanks with control characters or line breaks in it becomes one blank, or none at an end. */
export function asLine(text: string): string {
  if (!controls.test(text)) return text;
  return text.replace(/[\s\p{Cc}]+/gu, (run: string, at: number) => {
    if (!controls.test(run)) return run;
    return at === 0 || at + run.length === text.length ? '' : ' ';
  });
}

/** A text of several lines: each line break is a line feed, and control characters other than the tab are dropped. */
export const asLines = (text: string) =>
  text.replace(/\r\n|[\r\v\f\u0085\u2028\u2029]/g, '\n').replace(/[^\P{Cc}\t\n]/gu, '');

/** A title as it is stored: in one line, trimmed and in Unicode form NFC, so that equal words are equal bytes. */
export const asTitle = (text: string) => asLine(text).trim().normalize('NFC');

/** 1 to 255 characters, counted as people do (an emoji is one). */
export const isTitle = (text: string) => text !== '' && Array.from(text).length <= 255;

/** One e-mail address that mail can be sent to, without a name and without what would make it two. */
export const addressPattern =
  '^[^\\s@<>()[\\]\\\\,;:"\\u0000-\\u001f\\u007f-\\u009f]+@[^\\s@<>()\\\\,;"\\u0000-\\u001f\\u007f-\\u009f]+$';
const address = new RegExp(addressPattern, 'u');
export const isAddress = (text: string) => address.test(text);
