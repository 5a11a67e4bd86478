import { Type } from '@sinclair/typebox';
import { errorCodes } from '../error-codes.ts';
import { t } from './types.ts';

export const ErrorCode = t.named('ErrorCode', t.OneOf(errorCodes, { description: 'What went wrong' }));

export const CodedErrorBody = t.NamedObject('CodedError', {
  code: ErrorCode,
  message: Type.String(),
  participant_id: Type.Optional(Type.Integer({ description: 'Only where the request does not number participants' })),
});

export const ProblemField = t.NamedObject(
  'ProblemField',
  t.member.open.all({
    field: Type.String({ description: 'Path of a field or parameter' }),
    code: t.OneOf(['missing', 'invalid', 'unknown'], { description: 'invalid: not valid, or refused by a rule' }),
  }),
);

export const ProblemError = t.NamedObject('ProblemError', {
  ...CodedErrorBody.properties,
  field: Type.Optional(Type.String({ description: 'Path of the field that it is about' })),
  participant: Type.Optional(Type.Integer({ description: 'Index of the participant, from 0 as in the path' })),
});
