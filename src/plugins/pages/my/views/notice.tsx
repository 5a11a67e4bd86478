import type { FastifyReply } from 'fastify';
import { Message } from '../../layout.tsx';
import { sendPage } from '../../send-page.tsx';
import type { View } from '../view.ts';
import { Layout } from './layout.tsx';

/** Sends a page with a single message. */
export const sendNotice = (reply: FastifyReply, status: number, view: View, title: string, ...lines: string[]) =>
  sendPage(
    reply,
    status,
    <Layout view={view} title={title}>
      <Message title={title} lines={lines} />
      {view.person && (
        <p>
          <a href={view.paths.courses}>{view.texts.backToCourses}</a>
        </p>
      )}
    </Layout>,
  );
