import helmet from '@fastify/helmet';
import type { FastifyPluginAsync } from 'fastify';
import { Problem } from '../../core/errors.ts';
import { compressOnce, sendContent, type CompressedContent } from '../compression/static-content.ts';
import { assetPath, guideStyle, serveAsset } from './assets.ts';
import { loadGuides, type Guides } from './guides.ts';
import { renderLlmsTxt } from './llms.ts';
import { renderGuidePage } from './pages.tsx';
import { securityHeaders } from './security-headers.ts';

type GuideOptions = { publicUrl: string; basePath: string };

const headers = (subtype: string) => ({ type: `text/${subtype}; charset=utf-8`, cacheControl: 'public, max-age=300' });

/** The pages of docs/ at /docs/guides, as HTML and as Markdown, and /llms.txt, their list. */
export const guideRoutes: FastifyPluginAsync<GuideOptions> = async (app, { publicUrl, basePath }) => {
  await app.register(helmet, securityHeaders(publicUrl, { styleSrc: ["'self'"] }));
  const { findFile, findLlmsTxt } = cacheContents(basePath, publicUrl);

  app.get('/docs/guides', async (request, reply) =>
    sendContent(request, reply, await findFile('README'), headers('html')),
  );
  app.get<{ Params: { file: string } }>('/docs/guides/:file', async (request, reply) => {
    const { file } = request.params;
    return sendContent(request, reply, await findFile(file), headers(file.endsWith('.md') ? 'markdown' : 'html'));
  });
  app.get('/llms.txt', async (request, reply) => sendContent(request, reply, await findLlmsTxt(), headers('plain')));
  serveAsset(app, guideStyle);
};

/** Renders each file at its first request. Without docs/ every file is 404. */
function cacheContents(basePath: string, publicUrl: string) {
  let loading: Promise<Guides | undefined> | undefined;
  let llmsTxt: CompressedContent | undefined;
  const files = new Map<string, CompressedContent>();

  async function getGuides() {
    const guides = await (loading ??= loadGuides(`${basePath}/docs/guides`));
    if (!guides) throw notFound();
    return guides;
  }

  function renderFile(guides: Guides, file: string) {
    const name = file.replace(/\.md$/, '');
    if (!guides.names.has(name)) throw notFound();
    if (file.endsWith('.md')) return guides.readMarkdown(name);
    const style = basePath + assetPath(guideStyle);
    return renderGuidePage({ basePath, style, name, guide: guides.render(name), groups: guides.groups });
  }

  async function findFile(file: string) {
    const guides = await getGuides();
    const content = files.get(file) ?? compressOnce(renderFile(guides, file));
    files.set(file, content);
    return content;
  }

  async function findLlmsTxt() {
    const guides = await getGuides();
    return (llmsTxt ??= compressOnce(renderLlmsTxt(guides, publicUrl)));
  }

  return { findFile, findLlmsTxt };
}

const notFound = () => new Problem('not_found', 'There is nothing at this path');
