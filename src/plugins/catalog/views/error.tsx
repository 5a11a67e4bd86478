import type { Language } from '../../../core/reference/language.ts';
import type { Texts } from '../texts.ts';

type ErrorProps = { language: Language; texts: Texts; stylePath: string; title: string; help: string };

/** A page with an error where the school is not known. */
export const ErrorPage = ({ language, texts, stylePath, title, help }: ErrorProps) => (
  <html lang={language}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <title>{title}</title>
      <link rel="stylesheet" href={stylePath} />
    </head>
    <body>
      <a class="skip" href="#content">
        {texts.skip}
      </a>
      <main id="content" tabIndex={-1}>
        <h1>{title}</h1>
        <p>{help}</p>
      </main>
    </body>
  </html>
);
