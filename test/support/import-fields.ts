import { isBulk, type Item } from '../../src/plugins/transfer/record-type.ts';
import { recordTypes } from '../../src/plugins/transfer/record-types/index.ts';

const optional = Symbol.for('TypeBox.Optional');
const named = (name: string, schema: object, to?: string) =>
  `\`${name}\`${optional in schema ? '' : '\\*'}${to === undefined ? '' : ` → ${to}`}`;

const fieldsOf = ({ fields, accepts = {} }: Item) => [
  ...Object.entries(fields).map(([name, { schema, to }]) => named(name, schema, to)),
  ...Object.entries(accepts).map(([name, schema]) => named(name, schema)),
];

const endings = { list: '[]', 'by-key': '.{language}', one: '' };

function partsOf(name: string, { parts = {} }: Item): [string, string][] {
  return Object.entries(parts).flatMap(([member, part]): [string, string][] => {
    if (part.form === 'links') return [[`${name}.${member}`, `a list of refs → ${part.to}`]];
    const ref = 'kind' in part && part.kind !== undefined ? ['`ref`'] : [];
    const path = `${name}.${member}${endings[part.form]}`;
    return [[path, [...ref, ...fieldsOf(part.item)].join(', ')], ...partsOf(path, part.item)];
  });
}

/** Record types and their fields with descriptions, as in the documentation. */
export const importFields: [string, string][] = recordTypes.flatMap((kind): [string, string][] =>
  isBulk(kind)
    ? [[kind.kind, fieldsOf(kind).join(', ')], ...partsOf(kind.kind, kind)]
    : [
        [
          kind.kind,
          Object.entries(kind.schema.properties)
            .map(([name, schema]) => named(name, schema, kind.references?.[name]))
            .join(', '),
        ],
      ],
);
