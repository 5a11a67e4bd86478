import { Type, type TSchema } from '@sinclair/typebox';
import { InvalidArgumentError, type Command } from 'commander';
import { Problem } from '../../core/errors.ts';
import { createFieldsParser } from '../../core/schema/validator.ts';
import { BookingSettingsBody, type BookingSettingsBody as Body } from '../../resources/booking-settings/body-schema.ts';
import type { BookingSettings } from '../../resources/booking-settings/schema.ts';
import { getBookingSettings, updateBookingSettings } from '../../resources/booking-settings/service.ts';
import { command, id, run, table, type Options } from './run.ts';

type Values = Map<string, unknown>;

/** By the dotted name, such as `mails.reminder`. */
const flatten = (schema: TSchema, prefix = ''): [string, TSchema][] =>
  Object.entries(schema['properties'] as Record<string, TSchema>).flatMap(([name, member]): [string, TSchema][] =>
    member['properties'] ? flatten(member, `${prefix}${name}.`) : [[`${prefix}${name}`, member]],
  );
const settings = new Map(flatten(BookingSettingsBody));

export function bookingSettingsCommand(provider: Command) {
  command(provider, 'booking-settings', 'Show or change the rules of a school for cancellations, mails and their texts')
    .argument('<id>', 'id of the provider', id)
    .option('--set <name=value>', 'change a setting, repeatable; an empty value resets it', collectSetting)
    .action((providerId: number, options: Options & { set?: Values }) =>
      run(options, async ({ getCtx }) => {
        const ctx = await getCtx(providerId);
        const shown = options.set ? updateBookingSettings(ctx, toBody(options.set)) : getBookingSettings(ctx);
        return toResult(await shown);
      }),
    );
}

function collectSetting(text: string, before: Values = new Map()): Values {
  const [, name = text, value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  const schema = settings.get(name);
  if (schema === undefined)
    throw new InvalidArgumentError(
      `There is no setting '${name}'; the settings are ${[...settings.keys()].join(', ')}.`,
    );
  if (value === undefined) throw new InvalidArgumentError(`Write ${name}= and the value.`);
  if (before.has(name)) throw new InvalidArgumentError(`${name} is set twice.`);
  return new Map([...before, [name, parseValue(name, schema, value)]]);
}

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

const describeText = ({ pattern, maxLength }: TSchema) =>
  pattern ? 'an e-mail address' : `a text of at most ${maxLength as number} characters`;

function toBody(values: Values): Body {
  const body: Record<string, unknown> = {};
  for (const [name, value] of values) {
    const path = name.split('.');
    const last = path.pop()!;
    const parent = path.reduce((one, part) => (one[part] ??= {}) as Record<string, unknown>, body);
    parent[last] = value;
  }
  return body;
}

function toResult(shown: BookingSettings) {
  const rows = [...settings.keys()].map((setting) => ({ setting, value: toCell(readSetting(shown, setting)) }));
  return { json: shown, text: table(rows, '') };
}

const readSetting = (shown: BookingSettings, name: string) =>
  name.split('.').reduce<unknown>((value, part) => (value as Record<string, unknown>)[part], shown);

/** A text with several lines is quoted. */
const toCell = (value: unknown) =>
  typeof value === 'string' && !/\p{Cc}/u.test(value) ? value : value === null ? null : JSON.stringify(value);
