import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { responses } from '../../../http/responses.ts';
import { tableRoute } from '../../../http/spreadsheets.ts';
import { spreadsheetParameters } from '../../../lists/spreadsheet.ts';
import { AttendanceBody } from './body-schema.ts';
import { AttendanceSheet, AttendanceWritten, toGrid } from './schema.ts';
import { getAttendance, registerAttendance } from './service.ts';

const tags = ['Course dates'];
const params = Type.Object({ id: { ...t.Id, description: 'Id of the course date' } });
const querystring = Type.Object({
  format: Type.Optional(spreadsheetParameters.format.schema),
  delimiter: Type.Optional(spreadsheetParameters.delimiter.schema),
  spreadsheet: Type.Optional(spreadsheetParameters.spreadsheet.schema),
});

export const attendanceRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'getAttendance',
      summary: 'Get the attendance of a course date',
      description: 'Its participants with a seat or with attendance; as CSV with a column for each gathering.',
      tags,
      profiles: ['full', 'read'],
      item: 'Course date',
      params,
      querystring,
      response: responses.ok(AttendanceSheet),
    },
    ...tableRoute.hooks,
    handler: async (request, reply) => {
      const sheet = await getAttendance(request.ctx, request.params.id);
      return tableRoute.send(request, reply, sheet, toGrid);
    },
  });

  app.put('', {
    schema: {
      operationId: 'registerAttendance',
      summary: 'Register attendance',
      description:
        'At most 1,000 marks. Of a participant at a gathering the one with the newest `at` stands; all are kept. ' +
        'A mark that is refused does not hinder the others.',
      tags,
      profiles: ['full'],
      item: 'Course date',
      params,
      body: AttendanceBody,
      response: responses.ok(AttendanceWritten),
    },
    config: { refusesUnknown: true },
    handler: ({ ctx, params, body }) => registerAttendance(ctx, params.id, body),
  });
};
