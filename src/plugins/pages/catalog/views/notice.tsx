import { Message } from '../../layout.tsx';
import type { View } from '../view.ts';
import { Layout } from './layout.tsx';

/** A page with a single message, and a link to all courses. */
export const Notice = ({ view, title, lines }: { view: View; title: string; lines: string[] }) => (
  <Layout view={view} title={title} isIndexed={false}>
    <Message title={title} lines={lines} />
    <p>
      <a href={view.paths.start}>{view.texts.home}</a>
    </p>
  </Layout>
);
