import type { View } from '../view.ts';
import { Layout } from './layout.tsx';

/** A page with a single message, and a link to all courses. */
export const Notice = ({ view, title, lines }: { view: View; title: string; lines: string[] }) => (
  <Layout view={view} title={title} isIndexed={false}>
    <h1>{title}</h1>
    {lines.map((line) => (
      <p>{line}</p>
    ))}
    <p>
      <a href={view.paths.start}>{view.texts.home}</a>
    </p>
  </Layout>
);
