import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { kindCodes, orderCodes, requestCodes } from '../../src/core/error-codes.ts';
import { Problem } from '../../src/core/errors.ts';
import {
  hasPattern,
  readEntries,
  readErrorTexts,
  readPageTexts,
  toText,
  type ErrorText,
} from '../support/error-texts.ts';

const page = readFileSync('docs/reference/errors.md', 'utf8');
const { texts, composed } = readErrorTexts();

/** Texts of the tables of a section and of the lists below them. */
const textsIn = (section: string) =>
  [...section.matchAll(/^(?:\| `(.+?)` +\||- `([^`]+)`:)/gm)].map(([, cell, entry]) =>
    (cell ?? entry!).replaceAll(/\s+/g, ' '),
  );

/** Those of the endpoints, with the statuses in the headings above them. */
const documented = page.split(/^##+ /m).flatMap((section) => {
  const [heading = ''] = section.split('\n');
  const statuses = [...heading.matchAll(/\b[45]\d\d\b/g)].map(([status]) => Number(status));
  if (statuses.length === 0) return [];
  return textsIn(section).map((text) => ({ text, statuses }));
});

/** Texts that only the command line can print, by their beginning. */
const commandLineOnly = [
  'A revoked or expired key',
  'A category with the slug ',
  'A provider cannot be its own partner',
  'Admin user …',
  'Category ',
  'Key ',
  'Parent category ',
  'Parent provider ',
  'Partner connection ',
  'Provider ',
];

/** Texts that are composed of others, or sent with another status than their kind has. */
const composedTexts: ErrorText[] = [
  Problem.invalidFields({ missing: ['title'] }).message,
  Problem.invalidFields({ notValid: ['level'] }).message,
  Problem.invalidFields({ unknown: ['tag_id', 'titel'] }).message,
  Problem.invalidFields({ unknown: ['tag_id', 'titel'] }).message,
  'Field(s) not valid: include. Supported values of include: products, provider',
].map((text) => ({
  status: 400,
  pattern: [...text.replaceAll(/[()]/g, '\\$&').matchAll(/\\?./g)].map(([one]) => one),
}));

const sent = texts
  .filter(({ pattern }) => !commandLineOnly.some((beginning) => toText(pattern).startsWith(beginning)))
  .map((one) => (toText(one.pattern) === 'Request Timeout' ? { ...one, status: 408 } : one))
  .concat(composedTexts);

test('the texts that are composed of others are known', () => {
  expect(composed).toEqual([
    'core/booking-errors.ts: itemAt(unique).message',
    'core/errors.ts: `${item} not found`',
    'core/errors.ts: item',
    'core/errors.ts: message',
    'core/errors.ts: message',
    'core/errors.ts: message',
    'http/errors/error-handler.ts: `${message}. Supported values of include: ${supported}`',
    'http/errors/error-handler.ts: message',
    'lists/item-operations.ts: item',
    'lists/item-operations.ts: item',
  ]);
});

test('docs/reference/errors.md lists every error text of the source, below its status', () => {
  const isDocumented = ({ status, pattern }: ErrorText) =>
    documented.some(
      ({ text, statuses }) => (status === undefined || statuses.includes(status)) && hasPattern(text, pattern),
    );
  expect(sent.length).toBeGreaterThan(50);
  expect(sent.filter((one) => !isDocumented(one)).map(({ status, pattern }) => `${status} ${toText(pattern)}`)).toEqual(
    [],
  );
});

test('docs/reference/errors.md lists no text that the source does not send', () => {
  const isSent = ({ text }: { text: string }) => sent.some(({ pattern }) => hasPattern(text, pattern));
  expect(documented.filter((one) => !isSent(one)).map(({ text }) => text)).toEqual([]);
});

/** Texts of the personal pages that are no errors. */
const successes = [
  ...['passwordStored', 'adminStored', 'passwordChanged', 'loggedOut', 'courses'],
  ...['interestEnded', 'interestEndedHelp'],
];

test('docs/reference/errors.md lists every error text of the personal pages, and no other', () => {
  const errors = readPageTexts().filter(({ name }) => !successes.includes(name));
  const listed = textsIn(/^### Personal pages\n.*?(?=^##)/ms.exec(page)![0]);
  expect(errors.length).toBeGreaterThan(20);
  expect(
    errors.filter(({ pattern }) => !listed.some((text) => hasPattern(text, pattern))).map(({ name }) => name),
  ).toEqual([]);
  expect(listed.filter((text) => !errors.some(({ pattern }) => hasPattern(text, pattern)))).toEqual([]);
});

test('docs/reference/errors.md lists every code of a booking with its text', () => {
  const [, whole = '', ofParticipant = ''] = page.split(/^The codes about /m);
  const rowsOf = (part: string) =>
    [...part.matchAll(/^\| `(\w+)` +\| `(.+?)` +\|/gm)].map(([, ...row]) => row.join(': '));
  const entries = readEntries('core/error-codes.ts', 'bookingMessages').map(([code, text]) => ({
    row: `${code}: ${text}`,
    rows: rowsOf(/^[a-z]+ /.test(text) ? ofParticipant : whole),
  }));
  expect(entries.length).toBeGreaterThan(20);
  expect(entries.filter(({ row, rows }) => !rows.includes(row)).map(({ row }) => row)).toEqual([]);
});

test('docs/reference/errors.md lists the code of every kind of failure', () => {
  const [, section = ''] = /^## Codes\n(.*?)^##/ms.exec(page) ?? [];
  const listed = [...section.matchAll(/^\| `(\w+)` /gm)].map(([, code]) => code);
  expect(listed).toEqual([...Object.values(kindCodes), ...requestCodes, ...orderCodes]);
});
