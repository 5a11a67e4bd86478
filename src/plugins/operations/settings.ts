import { Type } from '@sinclair/typebox';
import { defineSettings } from '../../core/config.ts';
import { must } from '../../core/config/checks.ts';
import { integer, secret, text } from '../../core/config/declare.ts';

const token = must('have at least 16 characters', (value) => value.length >= 16);

export const operationsSettings = defineSettings({
  variables: {
    ADMIN_PORT: Type.Optional(
      integer(
        'A port that serves `/metrics` alone, not to be reached from outside; none unless set',
        undefined,
        0,
        65_535,
      ),
    ),
    ADMIN_HOST: text('Address that `ADMIN_PORT` listens on', { default: '127.0.0.1' }),
    METRICS_TOKEN: Type.Optional(
      secret(
        '`/metrics` needs `Authorization: Bearer` with it, of 16 characters at least, and is served on `PORT` too',
        { check: token },
      ),
    ),
  },
  after: { ADMIN_PORT: 'LOG_REQUESTS' },
  toValues: (variables) => variables,
});
