import type { View } from '../view.ts';
import { Layout } from './layout.tsx';

/** A page with a single message. */
export function Notice({ view, title, lines }: { view: View; title: string; lines: string[] }) {
  return (
    <Layout view={view} title={title}>
      <h1>{title}</h1>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
      {view.person && (
        <p>
          <a href={view.paths.courses}>{view.texts.backToCourses}</a>
        </p>
      )}
    </Layout>
  );
}
