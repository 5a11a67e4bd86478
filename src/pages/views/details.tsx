import { dayInWords } from '../../lib/date-format.ts';
import type { PersonalView } from '../view.ts';
import { capitalized, Fact, Lines } from './facts.tsx';
import { Layout } from './layout.tsx';

/** What the school knows of the person; to change it is the school's work. */
export function Details({ view }: { view: PersonalView }) {
  const { language, says, person } = view;
  const facts: [keyof typeof says.person, (string | null)[]][] = [
    ['name', [joined(person.firstname, person.lastname)]],
    ['username', [person.username]],
    ['email', [person.email]],
    ['phone', [person.phone]],
    ['dateOfBirth', [person.dateOfBirth && capitalized(dayInWords(person.dateOfBirth, language))]],
    ['company', [person.company]],
    ['department', [person.department]],
    ['position', [person.position]],
    [
      'homeAddress',
      [
        ...[person.homeAddress, person.homeAddress2, person.homeAddress3],
        ...[joined(person.homeZipcode, person.homeCity), person.homePhone],
      ],
    ],
    [
      'workAddress',
      [
        ...[person.workAddress, person.workAddress2, person.workAddress3],
        ...[joined(person.workZipcode, person.workCity), person.workPhone],
      ],
    ],
    [
      'invoiceAddress',
      [
        ...[person.invoiceAddress, person.invoiceAddress2, person.invoiceAddress3],
        ...[joined(person.invoiceZipcode, person.invoiceCity), person.invoicePhone],
      ],
    ],
  ];
  const known = facts.map(([name, lines]) => ({ name, lines: lines.filter((line) => line !== null && line !== '') }));
  return (
    <Layout view={view} title={says.details} current="details">
      <h1>{says.details}</h1>
      <dl>
        {known
          .filter(({ lines }) => lines.length > 0)
          .map(({ name, lines }) => (
            <Fact key={name} name={says.person[name]}>
              <Lines lines={lines as string[]} />
            </Fact>
          ))}
      </dl>
      <p>{says.detailsHint}</p>
    </Layout>
  );
}

const joined = (...words: (string | null)[]) => words.filter(Boolean).join(' ');
