import type { FastifyReply } from 'fastify';
import type { VNode } from 'preact';
import { render } from 'preact-render-to-string';
import type { ProblemKind } from '../core/errors.ts';
import type { PageErrorFormatter } from '../http/errors/error-handler.ts';
import type { Texts } from './texts.ts';
import { Notice } from './views/notice.tsx';

const markup = (page: VNode) => `<!doctype html>${render(page)}`;
const html = 'text/html; charset=utf-8';

export const sendPage = (reply: FastifyReply, status: number, page: VNode) =>
  reply.code(status).type(html).send(markup(page));

/** What went wrong, as a page that says what to do. */
export const formatPageError: PageErrorFormatter = ({ kind }, { view }, reply) => {
  const [title, help] = getSaying(kind, view.says);
  reply.type(html);
  return markup(<Notice view={view} title={title} lines={[help]} />);
};

function getSaying(kind: ProblemKind, says: Texts): [string, string] {
  if (kind === 'not_found') return [says.notFound, says.notFoundHelp];
  if (kind === 'forbidden') return [says.forbidden, says.forbiddenHelp];
  if (kind === 'unavailable' || kind === 'too_many_requests') return [says.busy, says.busyHelp];
  if (kind === 'internal') return [says.failed, says.failedHelp];
  return [says.unreadable, says.unreadableHelp];
}
