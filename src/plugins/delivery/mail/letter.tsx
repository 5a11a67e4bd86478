import { render } from 'preact-render-to-string';
import type { Language } from '../../../core/reference/language.ts';

/** Content of a letter, before it is rendered. */
export type Letter = {
  language: Language;
  subject: string;
  greeting: string;
  opening: string[];
  /** Names with their values, line by line. */
  facts: { name: string; lines: string[] }[];
  button: { label: string; href: string } | null;
  closing: string[];
  /** Regards, the school's name and its contact data. */
  sender: string[];
};

export function toText({ greeting, opening, facts, button, closing, sender }: Letter) {
  const factLines = facts
    .map(({ name, lines }) => `${name}: ${lines.join(`\n${' '.repeat(name.length + 2)}`)}`)
    .join('\n');
  const link = button === null ? '' : `${button.label}:\n${button.href}`;
  const parts = [greeting, ...opening, factLines, link, ...closing, sender.join('\n')];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

// Inline styles: mail programs ignore most others.
const page = { margin: 0, padding: '24px', background: '#f3f4f6', color: '#1f2937' };
const sheet = {
  maxWidth: '560px',
  margin: '0 auto',
  padding: '32px',
  background: '#ffffff',
  borderRadius: '8px',
  font: '16px/1.5 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif',
};
const table = { width: '100%', margin: '24px 0', borderCollapse: 'collapse' };
const cell = {
  padding: '8px 16px 8px 0',
  borderTop: '1px solid #e5e7eb',
  textAlign: 'left',
  verticalAlign: 'top',
  overflowWrap: 'anywhere',
};
const nameCell = { ...cell, color: '#4b5563', fontWeight: 'normal', whiteSpace: 'nowrap' };
const buttonLink = {
  display: 'inline-block',
  padding: '12px 20px',
  borderRadius: '6px',
  background: '#1d4ed8',
  color: '#ffffff',
  fontWeight: 'bold',
  textDecoration: 'none',
};
const small = { color: '#4b5563', fontSize: '14px', overflowWrap: 'anywhere' };

export const toHtml = (letter: Letter) => `<!doctype html>${render(<Sheet {...letter} />)}`;

const Sheet = ({ language, subject, greeting, opening, facts, button, closing, sender }: Letter) => (
  <html lang={language}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <title>{subject}</title>
    </head>
    <body style={page}>
      <div style={sheet}>
        <p>{greeting}</p>
        {opening.map((text) => (
          <p>{text}</p>
        ))}
        {facts.length > 0 && <Facts facts={facts} />}
        {button !== null && <Button {...button} />}
        {closing.map((text) => (
          <p>{text}</p>
        ))}
        <p>
          <Lines lines={sender} />
        </p>
      </div>
    </body>
  </html>
);

const Facts = ({ facts }: Pick<Letter, 'facts'>) => (
  <table style={table}>
    {facts.map(({ name, lines }) => (
      <tr>
        <th scope="row" style={nameCell}>
          {name}
        </th>
        <td style={cell}>
          <Lines lines={lines} />
        </td>
      </tr>
    ))}
  </table>
);

/** Shows the address too, for programs without links. */
const Button = ({ label, href }: NonNullable<Letter['button']>) => (
  <>
    <p>
      <a href={href} style={buttonLink}>
        {label}
      </a>
    </p>
    <p style={small}>{href}</p>
  </>
);

const Lines = ({ lines }: { lines: string[] }) => (
  <>
    {lines.map((line, n) => (
      <>
        {n > 0 && <br />}
        {isWebAddress(line) ? <a href={line}>{line}</a> : line}
      </>
    ))}
  </>
);

const isWebAddress = (line: string) => /^https?:\/\/\S+$/i.test(line);
