import { expect, test } from 'vitest';
import { exportToLines, importObjects } from '../../support/all-responses.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

const [past, coming] = ['2026-03-02', '2031-06-10'].map((day) => ({
  ref: day,
  gathering_at: `${day} 09:00`,
  gathering_end_at: `${day} 10:00`,
}));
const date = { kind: 'coursedate', ref: 'd', course_id: 'c', start_at: '2026-03-02', end_at: '2031-06-10' };
const lines = [
  { kind: 'course', ref: 'c', title: 'Knots' },
  { ...date, gatherings: [past, coming] },
  { kind: 'user', ref: 'u', firstname: 'Kari', username: 'kari' },
  { kind: 'order', ref: 'o', title: 'Knots', booking: { ref: 'b', coursedate_id: 'd' } },
];
const participant = { kind: 'participant', ref: 'p', idBooking: 'b', coursedate_id: 'd', user_id: 'u' };
const own = (gathering_id: string, fields: object) => ({ gathering_id, registered_at: '2026-03-02 12:00', ...fields });
const mark = (gathering_id: string, nonce: string, fields: object) => ({
  ...{ gathering_id, nonce, marked_at: '2026-03-02 12:00' },
  ...fields,
});

test('attendance that is refused now is imported, without the minutes of those who were absent', async () => {
  const me = await createProvider();
  const attendance = [
    own(past!.ref, { attended: false, minutes: 90 }),
    own(coming!.ref, { attended: true, minutes: 60 }),
  ];
  const attendance_marks = [
    mark(past!.ref, 'a', { attended: true, minutes: 30 }),
    mark(past!.ref, 'b', { attended: false, minutes: 90 }),
    mark(past!.ref, 'c', { attended: false, minutes: 0 }),
    mark(coming!.ref, 'd', { minutes: 5 }),
  ];
  const repeated = { ...participant, attendance: [own(past!.ref, {}), own(past!.ref, {})] };
  expect(await importObjects(me, [...lines, repeated])).toMatchObject({
    reasons: ['5: Field(s) not valid: attendance'],
    written: 0,
  });
  const all = [...lines, { ...participant, attendance, attendance_marks }];
  expect(await importObjects(me, all)).toMatchObject({ reasons: [], written: 5 });
  const exported = (await exportToLines({ database }, me)).find(({ kind }) => kind === 'participant')!;
  const minutes = (name: string) => (exported[name] as { minutes?: number }[]).map((one) => one.minutes);
  expect([minutes('attendance'), minutes('attendance_marks')]).toEqual([
    [undefined, 60],
    [30, undefined, 0, undefined],
  ]);
});
