import { Type, type Static } from '@sinclair/typebox';
import { byName, t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import {
  catalogFields,
  catalogFonts,
  fieldUses,
  type CatalogField,
  type catalogSettings,
  type CatalogTheme,
  type FieldUse,
} from '../../../database/tables/providers.ts';

const { Boolean, String } = Type;

export const CatalogFont = t.named('CatalogFont', t.OneOf(catalogFonts));
export const FieldUseSchema = t.named('CatalogFieldUse', t.OneOf(fieldUses));

export type CatalogSettingsRow = typeof catalogSettings.$inferSelect;

export type CatalogSettings = Static<typeof CatalogSettings>;
export const CatalogSettings = t.NamedObject(
  'CatalogSettings',
  t.member.closed.all({
    enabled: Boolean(),
    slug: t.Nullable(String()),
    host: t.Nullable(String({ description: 'Host name of its own, set by the operator' })),
    url: t.Nullable(String({ description: 'The start page; null while the catalog is off' })),
    theme: t.NamedObject(
      'CatalogTheme',
      t.member.closed.all({ accent: t.Nullable(String()), background: t.Nullable(String()), font: CatalogFont }),
    ),
    index: Boolean(),
    fields: t.NamedObject('CatalogFields', t.member.closed.all(byName(catalogFields, () => FieldUseSchema))),
    terms_url: t.Nullable(String()),
    privacy_url: t.Nullable(String()),
    withdrawal_text: t.Nullable(String()),
    updated_at: t.Nullable(t.DateTime),
  }),
);

export const defaultTheme: CatalogTheme = { accent: null, background: null, font: 'sans' };

export const defaultFields: Record<CatalogField, FieldUse> = {
  phone: 'optional',
  company: 'optional',
  position: 'off',
  date_of_birth: 'off',
  comment: 'optional',
};

/** The defaults without a row. `url` is that of the start page. */
export const toCatalogSettings = (row: CatalogSettingsRow | undefined, url: string | null): CatalogSettings => ({
  enabled: row?.isEnabled ?? false,
  slug: row?.slug ?? null,
  host: row?.host ?? null,
  url,
  theme: { ...defaultTheme, ...row?.theme },
  index: row?.isIndexed ?? true,
  fields: { ...defaultFields, ...row?.fields },
  terms_url: row?.termsUrl ?? null,
  privacy_url: row?.privacyUrl ?? null,
  withdrawal_text: row?.withdrawalText ?? null,
  updated_at: row ? formatTimestamp(row.updatedAt) : null,
});
