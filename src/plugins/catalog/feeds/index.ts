import type { FastifyPluginAsync } from 'fastify';
import type { Services } from '../../../http/auth/authenticate.ts';
import { atomFeed } from './atom.ts';
import { calendars } from './calendars.ts';
import { datesJson } from './dates-json.ts';
import { sitemap } from './sitemap.ts';

/** Feeds of a catalog for programs: JSON, calendars, Atom and a sitemap. */
export const feeds: FastifyPluginAsync<Services & { isOwnHost: boolean }> = async (app, options) => {
  await app.register(datesJson, options);
  await app.register(calendars, options);
  await app.register(atomFeed, options);
  await app.register(sitemap, options);
};
