import type { ComponentChildren } from 'preact';
import { render } from 'preact-render-to-string';
import type { Guide, GuideGroup } from './guides.ts';
import type { RenderedGuide } from './render-guide.ts';

const service = 'Course Booking Service';
const renderPage = (page: ReturnType<typeof Layout>) => `<!doctype html>${render(page)}`;

type LayoutProps = {
  title: string;
  basePath: string;
  style: string;
  current: 'reference' | 'guides';
  scripts?: string[];
  children: ComponentChildren;
};

/** Frame of every page: the head and the bar with links to the reference and the guides. */
function Layout({ title, basePath, style, current, scripts = [], children }: LayoutProps) {
  const links = [
    { id: 'reference', href: `${basePath}/docs`, text: 'API reference' },
    { id: 'guides', href: `${basePath}/docs/guides`, text: 'Guides' },
  ];
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${title} – ${service}`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={style} />
        {scripts.map((src) => (
          <script key={src} src={src} defer />
        ))}
      </head>
      <body>
        {current === 'guides' && (
          <a class="skip" href="#content">
            Skip to the content
          </a>
        )}
        <nav class="bar" aria-label="Documentation">
          <p>{service}</p>
          <ul>
            {links.map(({ id, href, text }) => (
              <li key={id}>
                <a href={href} aria-current={id === current ? 'true' : undefined}>
                  {text}
                </a>
              </li>
            ))}
          </ul>
          {current === 'guides' && (
            <button type="button" class="menu" popovertarget="guides">
              Menu
            </button>
          )}
        </nav>
        {children}
      </body>
    </html>
  );
}

export const renderReferencePage = (props: { basePath: string; scripts: string[]; style: string }) =>
  renderPage(
    <Layout {...props} title="API reference" current="reference">
      <div id="reference" />
      <noscript>
        The API reference needs JavaScript. The same as JSON: <OpenApiLink basePath={props.basePath} />
      </noscript>
    </Layout>,
  );

export const renderMissingReferencePage = (props: { basePath: string; style: string }) =>
  renderPage(
    <Layout {...props} title="API reference" current="reference">
      <main>
        <h1>API reference</h1>
        <p>
          The API reference has not been built: run <code>npm run build</code> and restart the server.
        </p>
        <p>
          The same as JSON: <OpenApiLink basePath={props.basePath} />
        </p>
      </main>
    </Layout>,
  );

const OpenApiLink = ({ basePath }: { basePath: string }) => <a href={`${basePath}/openapi.json`}>openapi.json</a>;

type GuideProps = {
  basePath: string;
  style: string;
  scripts: string[];
  name: string;
  guide: RenderedGuide;
  groups: GuideGroup[];
};

export function renderGuidePage({ basePath, style, scripts, name, guide, groups }: GuideProps) {
  const path = `${basePath}/docs/guides`;
  const list = (guides: Guide[]) => (
    <ul>
      {guides.map(({ name: other, title, children }) => (
        <li key={other}>
          <a href={`${path}/${other}`} aria-current={other === name ? 'page' : undefined}>
            {title}
          </a>
          {other === name && <Sections sections={guide.sections} />}
          {children.length > 0 && list(children)}
        </li>
      ))}
    </ul>
  );
  return renderPage(
    <Layout title={guide.title} basePath={basePath} style={style} scripts={scripts} current="guides">
      <div class="columns">
        <main id="content" tabIndex={-1}>
          <article dangerouslySetInnerHTML={{ __html: guide.html }} />
          <p class="source">
            <a href={`${path}/${name}.md`}>This page as Markdown</a>
          </p>
        </main>
        <nav class="guides" id="guides" aria-label="Guides" popover="auto">
          <form role="search" hidden>
            <input type="search" aria-label="Search the guides" placeholder="Search" autocomplete="off" />
          </form>
          <ul class="results" hidden />
          {groups.map(({ title, guides }) => (
            <section key={title}>
              <h2>{title}</h2>
              {list(guides)}
            </section>
          ))}
        </nav>
      </div>
    </Layout>,
  );
}

const Sections = ({ sections }: Pick<RenderedGuide, 'sections'>) => (
  <ul class="sections">
    {sections.map(({ id, title }) => (
      <li key={id}>
        <a href={`#${id}`}>{title}</a>
      </li>
    ))}
  </ul>
);
