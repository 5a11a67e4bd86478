import type { ComponentChildren } from 'preact';
import { safeLink } from '../html.ts';
import type { School } from '../people.ts';
import type { View } from '../view.ts';

type Current = 'courses' | 'details' | 'password';

/** The frame of every page: landmarks, the way around for who is signed in, the school to ask. */
export function Layout(props: { view: View; title: string; current?: Current; children: ComponentChildren }) {
  const { view, title, current, children } = props;
  const { language, says, paths, school } = view;
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
          {says.skip}
        </a>
        <header>
          <p class="school">{school?.title ?? says.menu}</p>
          {view.person && <Menu view={view} current={current} />}
        </header>
        <main id="content" tabIndex={-1}>
          {children}
        </main>
        {school && <Contact title={says.school} school={school} />}
      </body>
    </html>
  );
}

function Menu({ view: { says, paths }, current }: { view: View; current: Current | undefined }) {
  return (
    <div class="menu">
      <nav aria-label={says.menu}>
        <ul>
          {(['courses', 'details', 'password'] as const).map((page) => (
            <li key={page}>
              <a href={paths[page]} aria-current={page === current ? 'page' : undefined}>
                {says[page]}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <form method="post" action={paths.logOut}>
        <button class="plain">{says.logOut}</button>
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
