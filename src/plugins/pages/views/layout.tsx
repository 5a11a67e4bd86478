import type { ComponentChildren } from 'preact';
import { safeLink } from '../../../core/safe-link.ts';
import type { School } from '../people.ts';
import type { View } from '../view.ts';

type CurrentPage = 'courses' | 'details' | 'password';

/** Frame of every page: landmarks, the menu if signed in, the school's contact data. */
export function Layout(props: { view: View; title: string; current?: CurrentPage; children: ComponentChildren }) {
  const { view, title, current, children } = props;
  const { language, texts, paths, school } = view;
  return (
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>{school ? `${title} – ${school.title}` : title}</title>
        <link rel="stylesheet" href={paths.style} />
      </head>
      <body>
        <a class="skip" href="#content">
          {texts.skip}
        </a>
        {(school ?? view.person) && (
          <header>
            <p class="school">{school?.title ?? texts.menu}</p>
            {view.person && <Menu view={view} current={current} />}
          </header>
        )}
        <main id="content" tabIndex={-1}>
          {children}
        </main>
        {school && <Contact title={texts.school} school={school} />}
      </body>
    </html>
  );
}

function Menu({ view: { texts, paths }, current }: { view: View; current: CurrentPage | undefined }) {
  return (
    <div class="menu">
      <nav aria-label={texts.menu}>
        <ul>
          {(['courses', 'details', 'password'] as const).map((page) => (
            <li key={page}>
              <a href={paths[page]} aria-current={page === current ? 'page' : undefined}>
                {texts[page]}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <form method="post" action={paths.logOut}>
        <button class="plain">{texts.logOut}</button>
      </form>
    </div>
  );
}

function Contact({ title, school }: { title: string; school: School }) {
  const email = school.emailBooking || school.email;
  const web = safeLink(school.webAddress);
  if (!email && !school.phone && !web) return null;
  return (
    <footer>
      <h2>{title}</h2>
      <ul>
        {email && (
          <li>
            <a href={`mailto:${encodeURIComponent(email).replace('%40', '@')}`}>{email}</a>
          </li>
        )}
        {school.phone && <li>{school.phone}</li>}
        {web && (
          <li>
            <a href={web}>{school.webAddress}</a>
          </li>
        )}
      </ul>
    </footer>
  );
}
