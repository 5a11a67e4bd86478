import type { FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import { render } from 'preact-render-to-string';
import type { ProblemKind } from '../../core/errors.ts';
import type { Language } from '../../core/reference/language.ts';
import type { PageErrorFormatter } from '../../http/errors/error-handler.ts';
import { Layout, Message, PrivateHead } from './layout.tsx';
import { texts as allTexts, type Texts } from './texts.ts';

const htmlType = 'text/html; charset=utf-8';
const renderPage = (page: VNode) => `<!doctype html>${render(page)}`;

export const sendPage = (reply: FastifyReply, status: number, page: VNode) =>
  reply.code(status).type(htmlType).send(renderPage(page));

type Content = { title: string; lines: string[] };
type ErrorFrame = {
  language: Language;
  /** The frame of the school, where it is known. */
  frame?: ((content: Content) => VNode) | undefined;
};

/** Formats an error as a page. */
export function formatErrorsWith(
  stylePath: string,
  toFrame: (request: FastifyRequest) => ErrorFrame,
): PageErrorFormatter {
  // By language and text, so that a flood of refused requests renders nothing.
  const pages = new Map<string, string>();
  return ({ kind }, request, reply) => {
    reply.type(htmlType).header('cache-control', 'no-store');
    const { language, frame } = toFrame(request);
    const texts = allTexts[language];
    const [title, help] = toErrorTexts(kind, texts.errors, request.method);
    const content = { title, lines: [help] };
    if (frame) return renderPage(frame(content));
    const name = `${language} ${title} ${help}`;
    const page = pages.get(name) ?? renderPage(<ErrorPage {...{ language, texts, stylePath, content }} />);
    pages.set(name, page);
    return page;
  };
}

type ErrorProps = { language: Language; texts: Texts; stylePath: string; content: Content };
const ErrorPage = ({ language, texts, stylePath, content }: ErrorProps) => (
  <Layout view={{ language, texts }} head={<PrivateHead title={content.title} stylePath={stylePath} />}>
    <Message {...content} />
  </Layout>
);

function toErrorTexts(kind: ProblemKind, errors: Texts['errors'], method: string): [string, string] {
  const { busy, tooManyHelp, tooManySentHelp } = errors;
  if (kind === 'not_found') return [errors.notFound, errors.notFoundHelp];
  if (kind === 'gone') return [errors.gone, errors.goneHelp];
  if (kind === 'forbidden') return [errors.forbidden, errors.forbiddenHelp];
  if (kind === 'too_many_requests') return [busy, method === 'POST' ? tooManySentHelp : tooManyHelp];
  if (kind === 'unavailable') return [busy, errors.busyHelp];
  if (kind === 'internal') return [errors.failed, errors.failedHelp];
  return [errors.unreadable, errors.unreadableHelp];
}
