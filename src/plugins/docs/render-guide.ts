import GithubSlugger from 'github-slugger';
import type { Marked } from 'marked';
import { escapeMarkup } from '../../core/text.ts';

/** Returns the HTML of code with a span for each token; undefined for an unknown language. */
type Highlight = (code: string, language: string | undefined) => string | undefined;

/** Imported with the first guide, to save memory; only the languages that the guides have. */
export async function loadHighlighter(): Promise<Highlight> {
  const [{ default: core }, ...languages] = await Promise.all([
    import('highlight.js/lib/core'),
    import('highlight.js/lib/languages/bash'),
    import('highlight.js/lib/languages/json'),
    import('highlight.js/lib/languages/php'),
    import('highlight.js/lib/languages/python'),
    import('highlight.js/lib/languages/sql'),
    import('highlight.js/lib/languages/typescript'),
    import('highlight.js/lib/languages/xml'),
    import('highlight.js/lib/languages/yaml'),
  ]);
  const names = ['bash', 'json', 'php', 'python', 'sql', 'typescript', 'xml', 'yaml'];
  names.forEach((name, n) => core.registerLanguage(name, languages[n]!.default));
  return (code, language = '') =>
    core.getLanguage(language) && core.highlight(code, { language, ignoreIllegals: true }).value;
}

export type RenderedGuide = { title: string; html: string; sections: { id: string; title: string }[] };

/** Renders Markdown with anchors on its headings; HTML in it is escaped. `names` are the pages that links can lead to. */
export function renderGuide(
  { marked, highlight }: { marked: Marked; highlight: Highlight },
  markdown: string,
  names: Set<string>,
  path: string,
): RenderedGuide {
  const slugger = new GithubSlugger();
  const sections: RenderedGuide['sections'] = [];
  let title = '';
  marked.use({
    renderer: {
      heading({ depth, text, tokens }) {
        const id = slugger.slug(text);
        const plain = escapeMarkup(text.replaceAll('`', ''));
        if (depth === 1) title = text;
        if (depth === 2) sections.push({ id, title: text.replaceAll('`', '') });
        const anchor = depth === 1 ? '' : ` <a class="anchor" href="#${id}" aria-label="Link to ${plain}">#</a>`;
        const content = this.parser.parseInline(tokens);
        return `<h${depth} id="${id}">${content}${anchor}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = toLinkTarget(href, names, path);
        return target === undefined ? text : `<a href="${escapeMarkup(target)}">${text}</a>`;
      },
      // Focusable, so that the keyboard can scroll them.
      code: ({ text, lang }) => `<pre tabindex="0"><code>${highlight(text, lang) ?? escapeMarkup(text)}</code></pre>\n`,
      html: ({ text }) => escapeMarkup(text),
    },
  });
  const html = marked
    .parse(markdown, { async: false })
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
  return { title, html, sections };
}

/** The address of a page for a link to its Markdown file; other files of the repository have none. */
function toLinkTarget(href: string, names: Set<string>, path: string): string | undefined {
  if (/^(https?:|mailto:|#)/.test(href)) return href;
  const [, name, fragment = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (name === undefined || !names.has(name)) return undefined;
  return `${name === 'README' ? path : `${path}/${name}`}${fragment}`;
}
