/** A title as it is stored: trimmed and in Unicode form NFC, so that equal words are equal bytes. */
export const asTitle = (text: string) => text.trim().normalize('NFC');

/** 1 to 255 characters, counted as people do (an emoji is one). */
export const isTitle = (text: string) => text !== '' && Array.from(text).length <= 255;

/** One e-mail address that mail can be sent to, without a name and without what would make it two. */
export const isAddress = (text: string) =>
  /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()\\,;"]+$/.test(text) && !/\p{Cc}/u.test(text);
