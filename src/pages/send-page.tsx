import type { FastifyReply } from 'fastify';
import type { VNode } from 'preact';
import { render } from 'preact-render-to-string';
import type { ProblemKind } from '../core/errors.ts';
import type { PageErrorFormatter } from '../http/errors/error-handler.ts';
import type { Texts } from './texts.ts';
import { Notice } from './views/notice.tsx';

const renderPage = (page: VNode) => `<!doctype html>${render(page)}`;
const html = 'text/html; charset=utf-8';

export const sendPage = (reply: FastifyReply, status: number, page: VNode) =>
  reply.code(status).type(html).send(renderPage(page));

/** Formats an error as a page. */
export const formatPageError: PageErrorFormatter = ({ kind }, { view }, reply) => {
  const [title, help] = toErrorTexts(kind, view.texts);
  reply.type(html);
  return renderPage(<Notice view={view} title={title} lines={[help]} />);
};

function toErrorTexts(kind: ProblemKind, texts: Texts): [string, string] {
  if (kind === 'not_found') return [texts.notFound, texts.notFoundHelp];
  if (kind === 'forbidden') return [texts.forbidden, texts.forbiddenHelp];
  if (kind === 'unavailable' || kind === 'too_many_requests') return [texts.busy, texts.busyHelp];
  if (kind === 'internal') return [texts.failed, texts.failedHelp];
  return [texts.unreadable, texts.unreadableHelp];
}
