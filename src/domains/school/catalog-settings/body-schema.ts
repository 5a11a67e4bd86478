import { Type, type Static } from '@sinclair/typebox';
import { byName, coercionKind, t } from '../../../core/schema/types.ts';
import { catalogFields } from '../../../database/tables/providers.ts';
import { CatalogFont, defaultFields, defaultTheme, FieldUseSchema } from './schema.ts';

const { Optional, Boolean } = Type;
const json = { [coercionKind]: 'json' as const };

export const colorPattern = '^#[0-9a-fA-F]{6}$';
const slugPattern = '^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])$';
const Color = (description: string) =>
  Optional(t.Nullable(Type.String({ pattern: colorPattern, maxLength: 7, description, examples: ['#0b5a8a'] })));

const ThemeBody = t.NamedObject(
  'CatalogThemeInput',
  {
    accent: Color('Colour of buttons and links, as #rrggbb; null is that of the service'),
    background: Color('Colour of the page in the light scheme, as #rrggbb; null is that of the service'),
    font: Optional(t.Nullable({ ...CatalogFont, description: `Null is ${defaultTheme.font}` })),
  },
  json,
);

/** PUT /v2/catalog-settings. */
export type CatalogSettingsBody = Static<typeof CatalogSettingsBody>;
export const CatalogSettingsBody = t.NamedObject(
  'CatalogSettingsUpdate',
  t.partialUpdate({
    enabled: Optional(Boolean({ description: 'true: the catalog is public' })),
    slug: Optional({
      ...t.Line({ pattern: slugPattern, maxLength: 63, examples: ['harbour-school'] }),
      description:
        'In the addresses of the pages: 2 to 63 letters, digits and hyphens, unique without regard to case; ' +
        'null keeps it, and is by the title of the school once the catalog is on',
    }),
    theme: Optional({ ...ThemeBody, description: 'Null is the default, of one or of all' }),
    index: Optional(Boolean({ description: 'false: asks search engines to leave the catalog out' })),
    fields: Optional(
      t.NamedObject(
        'CatalogFieldsInput',
        byName(catalogFields, (name) =>
          Optional(t.Nullable({ ...FieldUseSchema, description: `Null is ${defaultFields[name]}` })),
        ),
        { ...json, description: 'Fields of the booking form; null is the default, of one or of all' },
      ),
    ),
    terms_url: Optional({
      ...t.Url({ examples: ['https://school.example/terms'] }),
      description: 'Page with the terms, linked beside the button that books',
    }),
    privacy_url: Optional({
      ...t.Url({ examples: ['https://school.example/privacy'] }),
      description: 'Page about the use of personal data',
    }),
    withdrawal_text: Optional({
      ...t.Note({ maxLength: 2_000 }),
      description: 'About the right of withdrawal, as plain text',
    }),
  }),
  { examples: [{ enabled: true, slug: 'harbour-school', theme: { accent: '#0b5a8a' } }] },
);

/** Settings as the operator changes them on the command line. */
export type CatalogSettingsChange = Static<typeof CatalogSettingsChange>;
export const CatalogSettingsChange = Type.Object({
  ...CatalogSettingsBody.properties,
  host: Optional(
    t.Nullable(
      t.Line({
        pattern: '^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z][a-z0-9-]*[a-z0-9]$',
        description: 'Host name of its own, in lower case, that points to this server',
        examples: ['courses.example.com'],
      }),
    ),
  ),
});
