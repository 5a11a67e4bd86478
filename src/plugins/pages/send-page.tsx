import type { FastifyReply } from 'fastify';
import type { VNode } from 'preact';
import type { ProblemKind } from '../../core/errors.ts';
import type { PageErrorFormatter } from '../../http/errors/error-handler.ts';
import { htmlType, renderPage } from '../../http/html/render.ts';
import type { Texts } from './texts.ts';
import type { Paths, View } from './view.ts';
import { Notice } from './views/notice.tsx';

export const sendPage = (reply: FastifyReply, status: number, page: VNode) =>
  reply.code(status).type(htmlType).send(renderPage(page));

/** Sends a page with a single message. */
export const sendNotice = (reply: FastifyReply, status: number, view: View, title: string, ...lines: string[]) =>
  sendPage(reply, status, <Notice view={view} title={title} lines={lines} />);

/** Pages of visitors without a session by language and kind, so that a flood of refused requests renders nothing. */
const errorPages = new WeakMap<Paths, Map<string, string>>();

/** Formats an error as a page. */
export const formatPageError: PageErrorFormatter = ({ kind }, { view }, reply) => {
  reply.type(htmlType);
  if (view.person) return renderErrorPage(view, kind);
  const pages = errorPages.get(view.paths) ?? new Map<string, string>();
  errorPages.set(view.paths, pages);
  const name = `${view.language} ${kind}`;
  const page = pages.get(name) ?? renderErrorPage(view, kind);
  pages.set(name, page);
  return page;
};

function renderErrorPage(view: View, kind: ProblemKind) {
  const [title, help] = toErrorTexts(kind, view.texts);
  return renderPage(<Notice view={view} title={title} lines={[help]} />);
}

function toErrorTexts(kind: ProblemKind, texts: Texts): [string, string] {
  if (kind === 'not_found') return [texts.notFound, texts.notFoundHelp];
  if (kind === 'forbidden') return [texts.forbidden, texts.forbiddenHelp];
  if (kind === 'unavailable' || kind === 'too_many_requests') return [texts.busy, texts.busyHelp];
  if (kind === 'internal') return [texts.failed, texts.failedHelp];
  return [texts.unreadable, texts.unreadableHelp];
}
