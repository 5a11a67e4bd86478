import type { ComponentChildren } from 'preact';
import { safeLink } from '../../core/safe-link.ts';
import type { Language } from '../../core/reference/language.ts';
import type { Texts } from './texts.ts';

/** The data that every page shows beside its own. */
export type PageView = {
  language: Language;
  texts: Texts;
  /** The service's time zone; times in others are shown with their zone. */
  timezone: string;
};

type LayoutProps = {
  view: Pick<PageView, 'language' | 'texts'>;
  head: ComponentChildren;
  header?: ComponentChildren;
  footer?: ComponentChildren;
  children: ComponentChildren;
};

/** Frame of every page: landmarks, and a link to the content. */
export const Layout = ({ view: { language, texts }, head, header, footer, children }: LayoutProps) => (
  <html lang={language}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      {head}
    </head>
    <body>
      <a class="skip" href="#content">
        {texts.skip}
      </a>
      {header && <header>{header}</header>}
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      {footer}
    </body>
  </html>
);

/** The head of a page that search engines leave out. */
export const PrivateHead = ({ title, stylePath }: { title: string; stylePath: string }) => (
  <>
    <meta name="robots" content="noindex" />
    <title>{title}</title>
    <link rel="stylesheet" href={stylePath} />
  </>
);

type FooterProps = {
  title: string;
  school: { email: string; phone: string; webAddress: string };
  /** Lines above the contact data. */
  lines?: string[];
  links?: { title: string; href: string | undefined }[];
};

/** How to reach the school, and its terms. */
export function Footer({ title, school: { email, phone, webAddress }, lines = [], links = [] }: FooterProps) {
  const web = safeLink(webAddress);
  const hasContact = Boolean(lines.length > 0 || email || phone || web);
  if (!hasContact && links.length === 0) return null;
  return (
    <footer>
      {hasContact && <h2>{title}</h2>}
      {hasContact && (
        <ul>
          {lines.map((line) => (
            <li>{line}</li>
          ))}
          {email && (
            <li>
              <a href={`mailto:${encodeURIComponent(email).replace('%40', '@')}`}>{email}</a>
            </li>
          )}
          {phone && <li>{phone}</li>}
          {web && (
            <li>
              <a href={web}>{webAddress}</a>
            </li>
          )}
        </ul>
      )}
      {links.length > 0 && (
        <ul class="legal">
          {links.map(({ title: name, href }) => (
            <li>
              <a href={href}>{name}</a>
            </li>
          ))}
        </ul>
      )}
    </footer>
  );
}

/** The content of a page with a single message. */
export const Message = ({ title, lines }: { title: string; lines: string[] }) => (
  <>
    <h1>{title}</h1>
    {lines.map((line) => (
      <p>{line}</p>
    ))}
  </>
);
