import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { countries } from '../../../core/schema/codes.ts';
import type { Language } from '../../../core/reference/language.ts';

const text = Type.String();

type PlaceRow = {
  id: number;
  title: string;
  country: string;
  parentId: number | null;
  parentTitle: string | null;
  grandparentId: number | null;
};

/** A place that is embedded in a location: ids are texts, `0` where there is none. */
export type LocationPlace = Static<typeof LocationPlace>;
export const LocationPlace = t.NamedObject(
  'Place',
  t.member.open.all({
    id: text,
    idParent: text,
    title: text,
    parent: t.Nullable(t.NamedObject('PlaceParent', t.member.open.all({ id: text, idParent: text, title: text }))),
    idCountry: text,
    country: text,
  }),
);

export const toCountry = (code: string, language: Language) => {
  const country = countries.get(code);
  return { idCountry: String(country?.id ?? 0), country: country?.title[language] ?? code };
};

const idText = (id: number | null) => String(id ?? 0);

export function toLocationPlace(row: PlaceRow, language: Language): LocationPlace {
  const { country, idCountry } = toCountry(row.country, language);
  return {
    id: idText(row.id),
    idParent: idText(row.parentId),
    title: row.title,
    parent:
      row.parentId === null
        ? null
        : { id: idText(row.parentId), idParent: idText(row.grandparentId), title: row.parentTitle ?? '' },
    idCountry,
    country,
  };
}

/** A place that is embedded in a course date; without a place it has only the additional info. */
export type DatePlace = Static<typeof DatePlace>;
export const DatePlace = t.NamedObject(
  'CourseDatePlace',
  t.member.open.all({
    id: Type.Optional(Type.Integer()),
    title: Type.Optional(text),
    title_additional_info: t.Nullable(text),
    parent_id: Type.Optional(t.Nullable(Type.Integer())),
    parent_title: Type.Optional(t.Nullable(text)),
  }),
);

export const toDatePlace = (row: PlaceRow | null, additionalInfo: string | null): DatePlace =>
  row === null
    ? { title_additional_info: additionalInfo }
    : {
        id: row.id,
        title: row.title,
        title_additional_info: additionalInfo,
        parent_id: row.parentId,
        parent_title: row.parentTitle,
      };
