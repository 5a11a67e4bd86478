import type { ComponentChildren } from 'preact';
import { otherLanguage } from '../../../../core/reference/language.ts';
import { safeLink } from '../../../../core/safe-link.ts';
import { fill } from '../../fill.ts';
import { Footer, Layout as Frame } from '../../layout.tsx';
import type { View } from '../view.ts';

type LayoutProps = {
  view: View;
  title: string;
  /** Shown by search engines and previews of links. */
  description?: string | undefined;
  /** False for pages that search engines leave out. */
  isIndexed?: boolean;
  /** Elements of the head, such as feeds and structured data. */
  head?: ComponentChildren;
  children: ComponentChildren;
};

/** Frame of every page of a catalog. */
export function Layout({ view, title, description, isIndexed = true, head, children }: LayoutProps) {
  const { texts, paths, school, canonical } = view;
  const isPublic = isIndexed && school.isIndexed;
  const seller = listSeller(view);
  return (
    <Frame
      view={view}
      head={
        <>
          <title>{title === school.title ? title : `${title} – ${school.title}`}</title>
          {!isPublic && <meta name="robots" content="noindex" />}
          {isIndexed && <link rel="canonical" href={canonical} />}
          {description && <meta name="description" content={description} />}
          <meta property="og:type" content="website" />
          <meta property="og:site_name" content={school.title} />
          <meta property="og:title" content={title} />
          {description && <meta property="og:description" content={description} />}
          {isIndexed && <meta property="og:url" content={canonical} />}
          <link rel="stylesheet" href={paths.style} />
          <link rel="stylesheet" href={paths.theme} />
          <link rel="alternate" type="application/atom+xml" title={texts.feeds.newDates} href={paths.feed} />
          <link rel="alternate" type="text/calendar" title={school.title} href={paths.calendar} />
          {head}
        </>
      }
      header={
        <>
          <p class="school">
            <a href={paths.start}>{school.title}</a>
          </p>
          <nav aria-label={school.title}>
            <ul>
              <li>
                <a href={paths.start}>{texts.home}</a>
              </li>
              <li>
                <OtherLanguage view={view} />
              </li>
            </ul>
          </nav>
        </>
      }
      footer={
        <Footer
          title={texts.contact}
          school={school}
          lines={seller.length > 0 ? [school.title, ...seller] : []}
          links={listLegalLinks(view)}
        />
      }
    >
      {children}
    </Frame>
  );
}

function OtherLanguage({ view: { language, texts, path, query } }: { view: View }) {
  const other = otherLanguage(language);
  const parameters = new URLSearchParams(query);
  parameters.set('lang', other);
  return (
    <a href={`${path}?${parameters.toString()}`} lang={other} hreflang={other} rel="nofollow">
      {texts.otherLanguage}
    </a>
  );
}

/** The addresses of the terms and of the privacy policy, with their titles. */
export const listLegalLinks = ({ school, texts }: Pick<View, 'school' | 'texts'>) =>
  [
    { title: texts.form.terms, href: safeLink(school.termsUrl) },
    { title: texts.form.privacy, href: safeLink(school.privacyUrl) },
  ].filter(({ href }) => href !== undefined);

/** The organization number and the address of the school that sells the courses. */
export const listSeller = ({ school: { orgNr, address }, texts }: Pick<View, 'school' | 'texts'>) =>
  [orgNr && fill(texts.orgNr, orgNr), address].filter(Boolean);
