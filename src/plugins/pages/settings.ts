import { defineSettings } from '../../core/config.ts';
import { boolean } from '../../core/config/declare.ts';

export const pagesSettings = defineSettings({
  variables: { PERSONAL_PAGES: boolean("Serve the course users' own pages at `/my`", true) },
  after: { PERSONAL_PAGES: 'CATALOG_URL' },
  toValues: (variables) => variables,
});
