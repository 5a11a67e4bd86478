import { readFileSync } from 'node:fs';
import { docsPages } from './docs-pages.ts';

export const pages = ['README.md', ...docsPages];

/** Code blocks of a page in a language, without the fences. */
export const blocksOf = (page: string, language: string) =>
  [...readFileSync(page, 'utf8').matchAll(new RegExp('```' + language + '\\n(.*?)```', 'gs'))].map(([, text]) => text!);

/** Blocks of `curl` commands, each with its position, in the order of the page. */
export const curlSamplesOf = (page: string) =>
  blocksOf(page, 'sh')
    .filter((text) => text.includes('curl') && !text.startsWith('docker compose'))
    .map((text, n) => ({ name: `${page} ${n + 1}: ${text.split('\n')[0]}`, text }));

export type Language = 'php' | 'ts' | 'python';
const extensions: Record<Language, string> = { php: 'php', ts: 'mts', python: 'py' };
const firstLines: Record<Language, RegExp> = {
  php: /^<\?php \/\/ (\S+)\n/,
  ts: /^\/\/ (\S+)\n/,
  python: /^# (\S+)\n/,
};

/** Receivers of webhooks, which webhook-samples.test.ts runs. */
const receiver = /^hooks\./;

/** Other programs of all pages of docs; each has the name of its file in its first line. The clients come first. */
export function programsIn(language: Language) {
  const programs = docsPages.flatMap((page) =>
    blocksOf(page, language).map((text) => {
      const [, file = ''] = firstLines[language].exec(text) ?? [];
      if (!file.endsWith(`.${extensions[language]}`))
        throw new Error(`${page}: no file name in ${text.split('\n')[0]}`);
      return { page, file, text, title: file.replace(/\.\w+$/, '').replaceAll('_', '-') };
    }),
  );
  const isClient = ({ title }: { title: string }) => title === 'client';
  const others = programs.filter((one) => !isClient(one) && !receiver.test(one.file));
  return [...programs.filter(isClient), ...others];
}
