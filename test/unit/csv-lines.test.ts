import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { csvLines } from '../../src/plugins/transfer/csv-lines.ts';

async function read(content: string | Buffer) {
  const folder = mkdtempSync(join(tmpdir(), 'booking-csv-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'file.csv');
  writeFileSync(path, content);
  const lines: unknown[] = [];
  for await (const line of csvLines(path, 'user'))
    lines.push('problem' in line ? `${line.number}: ${line.problem}` : { ...line.fields, number: line.number });
  return lines;
}

const row = (number: number, fields: Record<string, string>) => ({ number, kind: 'user', ...fields });
const kåre = row(2, { ref: '1', firstname: 'Kåre, jr.', email: 'k@x.example' });

test.each([
  ['commas', 'ref,firstname,email\n1,"Kåre, jr.",k@x.example\n'],
  ['semicolons', 'ref;firstname;email\r\n1;Kåre, jr.;k@x.example\r\n'],
  ['tabs', 'ref\tfirstname\temail\r1\tKåre, jr.\tk@x.example'],
  ['quoted names', '"ref";"firstname";"email"\n1;Kåre, jr.;k@x.example\n'],
  ['blanks around names', ' ref, firstname ,email\n1,"Kåre, jr.",k@x.example\n'],
  ['a byte order mark', '\ufeffref;firstname;email\n1;Kåre, jr.;k@x.example\n'],
  ['UTF-16', Buffer.from('\ufeffref\tfirstname\temail\r\n1\tKåre, jr.\tk@x.example\r\n', 'utf16le')],
  ['an unnamed column without values', 'ref,firstname,email,\n1,"Kåre, jr.",k@x.example,\n'],
  ['fields beyond the columns without values', 'ref,firstname,email\n1,"Kåre, jr.",k@x.example,,\n'],
])('reads a file with %s', async (_what, content) => {
  expect(await read(content)).toEqual([kåre]);
});

test('a comma in the header separates, whatever else it has', async () => {
  expect(await read('ref,a;b\n1,x;y\n')).toEqual([row(2, { ref: '1', 'a;b': 'x;y' })]);
  expect(await read('"ref;no";title\n1;x\n')).toEqual([row(2, { 'ref;no': '1', title: 'x' })]);
});

test('records without values are skipped, as empty lines are', async () => {
  expect(await read(',\n\nref,title\n,\n1,A\n , \n\n""\n2,\n,,,,\n')).toEqual([
    row(5, { ref: '1', title: 'A' }),
    row(9, { ref: '2', title: '' }),
  ]);
});

test.each([
  'ref,email,firstname,email',
  'ref, email,firstname,email ',
  'ref;email;firstname;email',
  'email,email,ref,x',
])('a column that occurs twice is refused: %s', async (header) => {
  expect(await read(`${header}\n1,a,A,b\n2,a,A,b\n`)).toEqual(['1: The column email occurs twice']);
});

test('a value in a column without a name is refused by its position', async () => {
  expect(await read('ref,,title,\n1,,A,\n2,x,B,\n3,,C,y\n')).toEqual([
    row(2, { ref: '1', title: 'A' }),
    '3: Column 2 has a value and no name',
    '4: Column 4 has a value and no name',
  ]);
});

test('bytes that are not UTF-8 are refused by their line', async () => {
  const latin1 = (text: string) => Buffer.from(text, 'latin1');
  const file = Buffer.concat([latin1('ref,lastname\n1,Aas\n2,\xc5s\n"3\n",\xe6\n'), Buffer.from('4,Ås\n')]);
  expect(await read(file)).toEqual([
    row(2, { ref: '1', lastname: 'Aas' }),
    '3: The line is not UTF-8',
    '5: The line is not UTF-8',
    row(6, { ref: '4', lastname: 'Ås' }),
  ]);
  expect(await read(latin1('ref,\xe5r\n1,2\n2,3\n'))).toEqual(['1: The line is not UTF-8']);
});

test('a character that two chunks of the file share is read whole', async () => {
  const lines = Array.from({ length: 20_000 }, (_, n) => row(n + 2, { ref: String(n), lastname: 'Ærøskøbing' }));
  const content = lines.map(({ number }) => `${number - 2},Ærøskøbing\n`).join('');
  expect(await read(`ref,lastname\n${content}`)).toEqual(lines);
  expect(await read(`ref,x,lastname\n${content.replaceAll(',', ',x,')}`)).toHaveLength(20_000);
});

test('a record over the limit of a line ends the file', async () => {
  const [bad, ...rest] = await read(`ref,title\n1,"${'x'.repeat(1_100_000)}\n2,B\n`);
  expect([bad, rest]).toEqual([expect.stringMatching(/^\d+: The file is not CSV from here on: .*1048576/), []]);
});

test('a line sep= before the header names the separator', async () => {
  const second = { ...kåre, number: 3 };
  for (const content of [
    'sep=;\r\nref;firstname;email\r\n1;Kåre, jr.;k@x.example\r\n',
    '\ufeff"sep=;"\nref;firstname;email\n1;Kåre, jr.;k@x.example\n',
    'SEP=|\nref|firstname|email\n1|Kåre, jr.|k@x.example\n',
    Buffer.from('\ufeffsep=\t\r\nref\tfirstname\temail\r\n1\tKåre, jr.\tk@x.example\r\n', 'utf16le'),
  ])
    expect(await read(content)).toEqual([second]);
  expect(await read('sep=,\nref,title\n1,a;b\n')).toEqual([row(3, { ref: '1', title: 'a;b' })]);
});
