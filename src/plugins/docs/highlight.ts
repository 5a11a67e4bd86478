/** Returns the HTML of code with a span for each token; undefined for an unknown language. */
export type Highlight = (code: string, language: string | undefined) => string | undefined;

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
