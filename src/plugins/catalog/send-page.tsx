import type { FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import type { ProblemKind } from '../../core/errors.ts';
import { preferredLanguage } from '../../core/reference/language.ts';
import type { Settings } from '../../core/settings.ts';
import type { PageErrorFormatter } from '../../http/errors/error-handler.ts';
import { htmlType, renderPage } from '../../http/html/render.ts';
import { texts as allTexts, type Texts } from './texts.ts';
import type { View } from './view.ts';
import { ErrorPage } from './views/error.tsx';
import { Notice } from './views/notice.tsx';

export const sendPage = (reply: FastifyReply, status: number, page: VNode) =>
  reply.code(status).type(htmlType).send(renderPage(page));

/** The catalog of a request; undefined until it is found. */
const viewIn = ({ catalog }: Partial<FastifyRequest>): View | undefined => catalog?.view;

/** Formats an error as a page, of the school where it is known. */
export const formatErrorWith =
  ({ defaultLanguage }: Settings, stylePath: string): PageErrorFormatter =>
  ({ kind }, request, reply) => {
    reply.type(htmlType).header('cache-control', 'no-store');
    const view = viewIn(request);
    const language = view?.language ?? preferredLanguage(request.headers['accept-language'], defaultLanguage);
    const texts = allTexts[language];
    const [title, help] = toErrorTexts(kind, texts, request.method);
    if (view) return renderPage(<Notice view={view} title={title} lines={[help]} />);
    return renderPage(<ErrorPage {...{ language, texts, stylePath, title, help }} />);
  };

function toErrorTexts(kind: ProblemKind, texts: Texts, method: string): [string, string] {
  if (kind === 'not_found') return [texts.notFound, texts.notFoundHelp];
  if (kind === 'gone') return [texts.gone, texts.goneHelp];
  if (kind === 'forbidden') return [texts.forbidden, texts.forbiddenHelp];
  if (kind === 'too_many_requests') return [texts.busy, method === 'POST' ? texts.tooManySentHelp : texts.tooManyHelp];
  if (kind === 'unavailable') return [texts.busy, texts.busyHelp];
  if (kind === 'internal') return [texts.failed, texts.failedHelp];
  return [texts.unreadable, texts.unreadableHelp];
}
