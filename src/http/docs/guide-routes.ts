import helmet from '@fastify/helmet';
import type { FastifyPluginAsync } from 'fastify';
import { Problem } from '../../core/errors.ts';
import { compressOnce, sendContent, type Content } from '../compressed-content.ts';
import { guideStyle } from './assets.ts';
import { loadGuides, type Guides } from './guides.ts';
import { renderLlmsTxt } from './llms.ts';
import { renderGuidePage } from './pages.tsx';
import { securityHeaders } from './security-headers.ts';

type GuideOptions = { publicUrl: string; basePath: string };

const text = (type: string) => ({ type: `text/${type}; charset=utf-8`, cacheControl: 'public, max-age=300' });

/** Not a name of a guide. */
const llmsTxt = '/llms.txt';

/** The pages of docs/ at /docs/guides, as HTML and as Markdown, and /llms.txt, their list. */
export const guideRoutes: FastifyPluginAsync<GuideOptions> = async (app, { publicUrl, basePath }) => {
  await app.register(helmet, securityHeaders(publicUrl, { styleSrc: ["'self'"] }));
  const findContent = cacheContents(basePath, publicUrl);
  const style = compressOnce(guideStyle.text);

  app.get('/docs/guides', async (request, reply) =>
    sendContent(request, reply, await findContent('README'), text('html')),
  );
  app.get<{ Params: { file: string } }>('/docs/guides/:file', async (request, reply) => {
    const { file } = request.params;
    return sendContent(request, reply, await findContent(file), text(file.endsWith('.md') ? 'markdown' : 'html'));
  });
  app.get(llmsTxt, async (request, reply) => sendContent(request, reply, await findContent(llmsTxt), text('plain')));
  app.get(`/docs/${guideStyle.name}`, (request, reply) =>
    sendContent(request, reply, style, { type: guideStyle.type, cacheControl: 'public, max-age=31536000, immutable' }),
  );
};

/** Renders each file with its first request. Without docs/ there are none. */
function cacheContents(basePath: string, publicUrl: string) {
  let loading: Promise<Guides | undefined> | undefined;
  const contents = new Map<string, Content>();

  function renderFile(guides: Guides, file: string) {
    if (file === llmsTxt) return renderLlmsTxt(guides, publicUrl);
    const name = file.replace(/\.md$/, '');
    if (!guides.names.has(name)) throw notFound();
    if (file.endsWith('.md')) return guides.readMarkdown(name);
    const style = `${basePath}/docs/${guideStyle.name}`;
    return renderGuidePage({ basePath, style, name, guide: guides.render(name), groups: guides.groups });
  }

  return async (file: string): Promise<Content> => {
    const guides = await (loading ??= loadGuides(`${basePath}/docs/guides`));
    if (!guides) throw notFound();
    const content = contents.get(file) ?? compressOnce(renderFile(guides, file));
    contents.set(file, content);
    return content;
  };
}

const notFound = () => new Problem('not_found', 'There is nothing at this path');
