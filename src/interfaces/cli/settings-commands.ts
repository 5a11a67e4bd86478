import { Type, type TSchema } from '@sinclair/typebox';
import { InvalidArgumentError, type Command } from 'commander';
import { Problem } from '../../core/errors.ts';
import { createFieldsParser } from '../../core/schema/validator.ts';
import type { Ctx } from '../../database/context.ts';
import { BookingSettingsBody } from '../../resources/booking-settings/body-schema.ts';
import type { BookingSettings } from '../../resources/booking-settings/schema.ts';
import { getBookingSettings, updateBookingSettings } from '../../resources/booking-settings/service.ts';
import { CatalogSettingsChange } from '../../resources/catalog-settings/body-schema.ts';
import type { CatalogSettings } from '../../resources/catalog-settings/schema.ts';
import { getCatalogSettings, updateCatalogSettings } from '../../resources/catalog-settings/service.ts';
import { command, id, run, table, type Options } from './run.ts';

type Values = Map<string, unknown>;
type Schemas = Map<string, TSchema>;

/** Settings of a school that the command shows, or changes by `--set`. */
type SettingsCommand<Body, Shown> = {
  name: string;
  description: string;
  schema: TSchema;
  read(ctx: Ctx): Promise<Shown>;
  update(ctx: Ctx, body: Body): Promise<Shown>;
};

export function bookingSettingsCommand(provider: Command) {
  addSettingsCommand<BookingSettingsBody, BookingSettings>(provider, {
    name: 'booking-settings',
    description: 'Show or change the rules of a school for cancellations, mails and their texts',
    schema: BookingSettingsBody,
    read: getBookingSettings,
    update: updateBookingSettings,
  });
}

export function catalogSettingsCommand(provider: Command) {
  addSettingsCommand<CatalogSettingsChange, CatalogSettings>(provider, {
    name: 'catalog-settings',
    description: 'Show or change the public catalog of a school',
    schema: CatalogSettingsChange,
    read: getCatalogSettings,
    update: updateCatalogSettings,
  });
}

function addSettingsCommand<Body, Shown extends object>(provider: Command, spec: SettingsCommand<Body, Shown>) {
  const schemas: Schemas = new Map(flatten(spec.schema));
  command(provider, spec.name, spec.description)
    .argument('<id>', 'id of the provider', id)
    .option('--set <name=value>', 'change a setting, repeatable; an empty value resets it', collectSetting(schemas))
    .action((providerId: number, options: Options & { set?: Values }) =>
      run(options, async ({ getCtx }) => {
        const ctx = await getCtx(providerId);
        const shown = options.set ? spec.update(ctx, toBody(options.set) as Body) : spec.read(ctx);
        return toResult(schemas, await shown);
      }),
    );
}

/** By the dotted name, such as `mails.reminder`. */
const flatten = (schema: TSchema, prefix = ''): [string, TSchema][] =>
  Object.entries(schema['properties'] as Record<string, TSchema>).flatMap(([name, member]): [string, TSchema][] =>
    member['properties'] ? flatten(member, `${prefix}${name}.`) : [[`${prefix}${name}`, member]],
  );

const collectSetting =
  (schemas: Schemas) =>
  (text: string, before: Values = new Map()): Values => {
    const [, name = text, value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    const schema = schemas.get(name);
    if (schema === undefined)
      throw new InvalidArgumentError(
        `There is no setting '${name}'; the settings are ${[...schemas.keys()].join(', ')}.`,
      );
    if (value === undefined) throw new InvalidArgumentError(`Write ${name}= and the value.`);
    if (before.has(name)) throw new InvalidArgumentError(`${name} is set twice.`);
    return new Map([...before, [name, parseValue(name, schema, value)]]);
  };

function parseValue(name: string, schema: TSchema, value: string) {
  try {
    return createFieldsParser(Type.Object({ value: schema }, { required: ['value'] }))({ value })['value'];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new InvalidArgumentError(`${name} must be ${describe(schema)}.`);
  }
}

function describe(schema: TSchema) {
  const types = [schema['type'] as string | string[]].flat();
  const values = schema['enum'] as (string | null)[] | undefined;
  const words = [
    ...(values?.filter((value) => value !== null) ??
      (types.includes('boolean') ? ['true', 'false'] : [describeText(schema)])),
    ...(types.includes('null') ? ['empty'] : []),
  ];
  return `${words.slice(0, -1).join(', ')}${words.length > 1 ? ' or ' : ''}${words.at(-1)}`;
}

const describeText = ({ pattern, maxLength, examples }: TSchema) =>
  examples
    ? `a text such as ${String((examples as unknown[])[0])}`
    : pattern
      ? 'an e-mail address'
      : `a text of at most ${maxLength as number} characters`;

function toBody(values: Values) {
  const body: Record<string, unknown> = {};
  for (const [name, value] of values) {
    const path = name.split('.');
    const last = path.pop()!;
    const parent = path.reduce((one, part) => (one[part] ??= {}) as Record<string, unknown>, body);
    parent[last] = value;
  }
  return body;
}

function toResult(schemas: Schemas, shown: object) {
  const rows = [...schemas.keys()].map((setting) => ({ setting, value: toCell(readSetting(shown, setting)) }));
  return { json: shown, text: table(rows, '') };
}

const readSetting = (shown: object, name: string) =>
  name.split('.').reduce<unknown>((value, part) => (value as Record<string, unknown>)[part], shown);

/** A text with several lines is quoted. */
const toCell = (value: unknown) =>
  typeof value === 'string' && !/\p{Cc}/u.test(value) ? value : value === null ? null : JSON.stringify(value);
