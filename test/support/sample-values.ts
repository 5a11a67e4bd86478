import { coercionKind, type CoercionKind } from '../../src/core/schema/types.ts';

/** A schema of a field, of the code or of the OpenAPI document without references. */
export type FieldSchema = {
  [coercionKind]?: CoercionKind;
  type?: string | string[];
  enum?: unknown[];
  default?: unknown;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  multipleOf?: number;
  items?: FieldSchema;
  properties?: Record<string, FieldSchema>;
  propertyNames?: FieldSchema;
  additionalProperties?: FieldSchema;
  anyOf?: FieldSchema[];
};

/** The formats of texts without a pattern. */
const byKind: Partial<Record<string, string>> = {
  date: '2001-02-03',
  'stored-date-time': '2026-05-02 10:00:00',
  'stored-end-date-time': '2031-05-02 10:00:00',
  'local-time': '2030-06-10 09:00',
  day: '2030-06-10',
  'time-of-day': '09:00:10',
};
/** Texts that name their field, and after them some without; a field has the first that its pattern allows. */
const textsOf = (name: string) => [
  `Æ & ${name} + 100 % 🚑`,
  `${name}@fjord.example`,
  `https://fjord.example/${name}?a=1&b=%41`,
  ...['12.25', '-12.25', '09:00:10', '2030-06-10 09:00', '#0b5a8a', name.replaceAll('_', '-')],
];

/** True for a sample of a text without a format. */
export const isFreeText = (value: unknown) => typeof value === 'string' && value.startsWith('Æ & ');

/** The sum of the bytes, so that fields of a resource have different numbers. */
const numberOf = (name: string) => Buffer.from(name).reduce((sum, one) => sum + one, 0) % 89;

/** A value that the schema allows, other than its default, and for a text or a number another than other fields have. */
export function sampleValue(name: string, schema: FieldSchema): unknown {
  if (schema.anyOf) return sampleValue(name, { default: schema.default, ...schema.anyOf[0]! });
  if (schema.enum) return schema.enum.findLast((one) => one !== null && one !== schema.default);
  switch ([schema.type].flat()[0]) {
    case 'boolean':
      return schema.default !== true;
    case 'integer':
    case 'number':
      return sampleNumber(name, schema);
    case 'array':
      return [sampleValue(name, schema.items!)];
    case 'object':
      return sampleObject(name, schema);
    default:
      return sampleText(name, schema);
  }
}

function sampleNumber(name: string, { minimum = 0, maximum = 100, multipleOf, type }: FieldSchema) {
  if (maximum <= 1) return 0.75;
  const whole = Math.min(Math.max(minimum, 0) + 1 + numberOf(name), maximum);
  return multipleOf === undefined || [type].flat()[0] === 'integer' ? whole : whole - 0.25;
}

function sampleObject(name: string, { properties, propertyNames, additionalProperties }: FieldSchema) {
  if (properties)
    return Object.fromEntries(Object.entries(properties).map(([one, schema]) => [one, sampleValue(one, schema)]));
  const keys = (propertyNames?.enum as string[] | undefined)?.slice(0, 2) ?? [name, `other ${name}`];
  return Object.fromEntries(keys.map((key) => [key, sampleValue(key, additionalProperties!)]));
}

function sampleText(name: string, schema: FieldSchema) {
  const { pattern = '', maxLength = Infinity } = schema;
  const kind = byKind[schema[coercionKind] ?? schema.format ?? ''];
  const texts = schema[coercionKind] === 'email' ? textsOf(name).slice(1) : textsOf(name);
  const found = [...(kind === undefined ? [] : [kind]), ...texts].find(
    (text) => text.length <= maxLength && new RegExp(pattern, 'u').test(text),
  );
  if (found === undefined) throw new Error(`name a value of ${name} in test/support/sample-values.ts`);
  return found;
}
