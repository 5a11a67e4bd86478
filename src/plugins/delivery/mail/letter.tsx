import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { render } from 'preact-render-to-string';
import type { Language } from '../../../core/reference/language.ts';
import type { Fact, Letter, MailCalendar, Section } from './mail-types.ts';
import type { Mail, Written } from './mails.ts';
import { en, type LetterTexts } from './messages/en.ts';
import { no } from './messages/no.ts';
import type { Message } from './transport.ts';

export const letterTexts: Record<Language, LetterTexts> = { en, no };

type Content = Partial<Omit<Letter, 'button'>> & { button?: { label: string; href: string; closing: string[] } | null };

export const isNotEmpty = (text: string | null | undefined): text is string => Boolean(text);

export const withoutEmpty = (facts: (Omit<Fact, 'lines'> & { lines: (string | null | undefined)[] })[]): Fact[] =>
  facts.map((fact) => ({ ...fact, lines: fact.lines.filter(isNotEmpty) })).filter(({ lines }) => lines.length > 0);

/** A letter with the greeting, the regards and the contact data that all have. */
export function composeLetter(
  { language, words, firstname, school, contact, phone, webAddress }: Mail,
  [subject, ...opening]: [subject: string, ...opening: (string | null | undefined)[]],
  { button = null, closing = button?.closing ?? [], ...content }: Content = {},
): Letter {
  const texts = letterTexts[language];
  return {
    ...{ language, subject, facts: [], sections: [], button },
    greeting: words.greeting ?? texts.greeting(firstname),
    opening: opening.filter(isNotEmpty),
    closing: [...closing, ...(contact === '' ? [] : [texts.questions])],
    sender: [texts.regards, school, contact, phone, webAddress].filter(isNotEmpty),
    footer: words.footer?.split('\n').map((line) => line.trimEnd()) ?? [],
    ...content,
  };
}

/** Equal for all attempts, so that recipients can detect duplicates, and unique across databases. */
export const mailName = ({ createdAt, id }: Pick<Mail, 'createdAt' | 'id'>) => `${createdAt}-${id}`;

/** Sent from the service's address in the school's name; replies go to the school. */
export function toMessage(mail: Mail, { letter, calendar, name = mailName(mail) }: Written, from: string): Message {
  const { school, firstname, lastname, email, contact } = mail;
  return {
    from: { name: school, address: from },
    to: { name: `${firstname} ${lastname}`.trim(), address: email },
    ...(contact === '' ? {} : { replyTo: { name: school, address: contact } }),
    subject: letter.subject,
    text: toText(letter),
    html: toHtml(letter),
    ...(calendar && toCalendarPart(calendar)),
    messageId: `<${name}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': letter.language },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function toCalendarPart({ alternative, attachment }: MailCalendar): Pick<Message, 'alternatives' | 'attachments'> {
  const toPart = ({ method, content }: { method: string; content: string }) => ({
    content,
    contentType: `text/calendar; charset=utf-8; method=${method}`,
    // Base64 keeps its line breaks.
    contentTransferEncoding: 'base64' as const,
  });
  return {
    ...(alternative && { alternatives: [toPart(alternative)] }),
    ...(attachment && { attachments: [{ ...toPart(attachment), filename: 'calendar.ics' }] }),
  };
}

function toText({ greeting, opening, facts, sections, button, closing, sender, footer }: Letter) {
  const factLines = facts
    .map(({ name, lines }) => `${name}: ${lines.join(`\n${' '.repeat(name.length + 2)}`)}`)
    .join('\n');
  const link = button === null ? '' : `${button.label}:\n${button.href}`;
  const parts = [greeting, ...opening, factLines, ...sections.map(toSectionText), link, ...closing];
  return `${[...parts, sender.join('\n'), footer.join('\n')].filter((part) => part !== '').join('\n\n')}\n`;
}

const toSectionText = ({ title, rows }: Section) =>
  [
    title,
    '-'.repeat(title.length),
    ...rows.map(({ name, lines }) => (lines.length > 0 ? `${name}: ${lines.join(', ')}` : name)),
  ].join('\n');

const styles = readFileSync(join(import.meta.dirname, 'letter.css'), 'utf8');

// Inline styles: mail programs ignore most others.
const page = { margin: 0, padding: '16px 8px', background: '#f3f4f6', color: '#1f2937' };
const sheet = {
  maxWidth: '600px',
  margin: '0 auto',
  padding: '8px 20px',
  background: '#ffffff',
  borderRadius: '8px',
  font: '16px/1.5 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif',
};
const table = { width: '100%', margin: '24px 0', borderCollapse: 'collapse' };
const cell = {
  padding: '8px 0',
  borderTop: '1px solid #e5e7eb',
  textAlign: 'left',
  verticalAlign: 'top',
  overflowWrap: 'anywhere',
};
const quiet = { color: '#4b5563' };
const nameCell = { ...cell, ...quiet, paddingRight: '16px', fontWeight: 'normal', whiteSpace: 'nowrap' };
const rowCell = { ...cell, paddingRight: '16px', fontWeight: 'normal', width: '50%' };
const widerCell = { ...rowCell, width: 'auto' };
const amountCell = { ...cell, textAlign: 'right', whiteSpace: 'nowrap' };
const listed = { marginBottom: '8px' };
const link = { color: '#1d4ed8' };
const sectionTitle = { margin: '32px 0 0', fontSize: '18px' };
const buttonLink = {
  display: 'inline-block',
  padding: '12px 20px',
  borderRadius: '6px',
  background: '#1d4ed8',
  color: '#ffffff',
  fontWeight: 'bold',
  textDecoration: 'none',
};
const small = { ...quiet, fontSize: '14px', overflowWrap: 'anywhere' };

const toHtml = (letter: Letter) => `<!doctype html>${render(<Sheet {...letter} />)}`;

const Sheet = ({ language, subject, greeting, opening, facts, sections, button, closing, sender, footer }: Letter) => (
  <html lang={language}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <meta name="color-scheme" content="light dark" />
      <title>{subject}</title>
      <style dangerouslySetInnerHTML={{ __html: styles }} />
    </head>
    <body class="page" style={page}>
      <div class="sheet" style={sheet}>
        <p>{greeting}</p>
        {opening.map((text) => (
          <p>
            <Lines lines={text.split('\n')} />
          </p>
        ))}
        {facts.length > 0 && <Facts facts={facts} />}
        {sections.map((section) => (
          <Rows {...section} />
        ))}
        {button !== null && <Button {...button} />}
        {closing.map((text) => (
          <p>{text}</p>
        ))}
        <p>
          <Lines lines={sender} hasLinks />
        </p>
        {footer.length > 0 && (
          <p class="quiet" style={small}>
            <Lines lines={footer} hasLinks />
          </p>
        )}
      </div>
    </body>
  </html>
);

const Facts = ({ facts }: Pick<Letter, 'facts'>) => (
  <table style={table}>
    {facts.map(({ name, lines, isList = false, hasLinks = false }) => (
      <tr>
        <th scope="row" class="cell quiet" style={nameCell}>
          {name}
        </th>
        <td class="cell" style={cell}>
          {isList ? lines.map((line) => <div style={listed}>{line}</div>) : <Lines lines={lines} hasLinks={hasLinks} />}
        </td>
      </tr>
    ))}
  </table>
);

const Rows = ({ title, rows, isAmounts = false }: Section) => (
  <>
    <h2 style={sectionTitle}>{title}</h2>
    <table style={table}>
      {rows.map(({ name, lines }) => (
        <tr>
          <th scope="row" class="cell" style={isAmounts ? widerCell : rowCell}>
            {name}
            {isAmounts && lines.length > 1 && <Details lines={lines.slice(1)} />}
          </th>
          <td class="cell" style={isAmounts ? amountCell : cell}>
            {isAmounts ? lines[0] : <Lines lines={lines} />}
          </td>
        </tr>
      ))}
    </table>
  </>
);

const Details = ({ lines }: { lines: string[] }) => (
  <div class="quiet" style={small}>
    <Lines lines={lines} />
  </div>
);

/** Shows the address too, for programs without links. */
const Button = ({ label, href }: NonNullable<Letter['button']>) => (
  <>
    <p>
      <a href={href} class="button" style={buttonLink}>
        {label}
      </a>
    </p>
    <p class="quiet" style={small}>
      {href}
    </p>
  </>
);

/** Web addresses become links only in texts of the school: persons and bookers choose the others. */
const Lines = ({ lines, hasLinks = false }: { lines: string[]; hasLinks?: boolean }) => (
  <>
    {lines.map((line, n) => (
      <>
        {n > 0 && <br />}
        {hasLinks && isWebAddress(line) ? (
          <a href={line} style={link}>
            {line}
          </a>
        ) : (
          line
        )}
      </>
    ))}
  </>
);

const isWebAddress = (line: string) => /^https?:\/\/\S+$/i.test(line);
