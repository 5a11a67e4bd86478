import type { ComponentChildren } from 'preact';
import { Footer, Layout as Frame, PrivateHead } from '../../layout.tsx';
import type { View } from '../view.ts';

type CurrentPage = 'courses' | 'details' | 'password';

/** Frame of every personal page: the menu if signed in, the school's contact data. */
export function Layout(props: { view: View; title: string; current?: CurrentPage; children: ComponentChildren }) {
  const { view, title, current, children } = props;
  const { texts, paths, school, person } = view;
  return (
    <Frame
      view={view}
      head={<PrivateHead title={school ? `${title} – ${school.title}` : title} stylePath={paths.style} />}
      header={
        (school ?? person) && (
          <>
            <p class="school">{school?.title ?? texts.menu}</p>
            {person && <Menu view={view} current={current} />}
          </>
        )
      }
      footer={school && <Footer title={texts.school} school={school} />}
    >
      {children}
    </Frame>
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
