import { Type } from '@sinclair/typebox';
import { Problem } from '../../../core/errors.ts';
import { parseTimestamp } from '../../../core/timestamps.ts';
import type { Fields } from '../record-type.ts';

export const Day = Type.String({ format: 'date' });
export const TimeOfDay = Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.0+)?)?$' });
/** In the time zone of the course date. */
export const LocalTime = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}[ T]\\d{2}:\\d{2}(:\\d{2})?$' });
/** A string: floating point cannot represent every amount. */
export const Amount = Type.String({ pattern: '^\\d{1,10}(\\.\\d{1,2})?$' });
/** Negative in a credit. */
export const SignedAmount = Type.String({ pattern: '^-?\\d{1,10}(\\.\\d{1,2})?$' });
export const CreditedAmount = Type.String({ pattern: '^(-\\d{1,10}(\\.\\d{1,2})?|0(\\.0{1,2})?)$' });
export const Percentage = Type.String({ pattern: '^(100(\\.0{1,2})?|\\d{1,2}(\\.\\d{1,2})?)$' });

/** A part of an address. */
export const Slug = Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 255 });

/** Throws for dates that do not exist, such as 30 February. */
export function assertRealValues(fields: Fields, names: string[]) {
  const notValid = names.filter(
    (name) => fields[name] !== undefined && parseTimestamp(fields[name] as string) === undefined,
  );
  if (notValid.length > 0) throw Problem.invalidFields({ notValid });
}
