import { formatDay } from '../../../core/date-format.ts';
import type { PersonalView } from '../view.ts';
import { capitalized, Fact, Lines } from './facts.tsx';
import { Layout } from './layout.tsx';

/** The person's data, read-only. */
export function Details({ view }: { view: PersonalView }) {
  const { language, texts, person } = view;
  const fields: [keyof typeof texts.person, (string | null)[]][] = [
    ['name', [joinWords(person.firstname, person.lastname)]],
    ['username', [person.username]],
    ['email', [person.email]],
    ['phone', [person.phone]],
    ['dateOfBirth', [person.dateOfBirth && capitalized(formatDay(person.dateOfBirth, language))]],
    ['company', [person.company]],
    ['department', [person.department]],
    ['position', [person.position]],
    [
      'homeAddress',
      [
        ...[person.homeAddress, person.homeAddress2, person.homeAddress3],
        ...[joinWords(person.homeZipcode, person.homeCity), person.homePhone],
      ],
    ],
    [
      'workAddress',
      [
        ...[person.workAddress, person.workAddress2, person.workAddress3],
        ...[joinWords(person.workZipcode, person.workCity), person.workPhone],
      ],
    ],
    [
      'invoiceAddress',
      [
        ...[person.invoiceAddress, person.invoiceAddress2, person.invoiceAddress3],
        ...[joinWords(person.invoiceZipcode, person.invoiceCity), person.invoicePhone],
      ],
    ],
  ];
  const facts = fields.map(([name, lines]) => ({ name, lines: lines.filter((line) => line !== null && line !== '') }));
  return (
    <Layout view={view} title={texts.details} current="details">
      <h1>{texts.details}</h1>
      <dl>
        {facts
          .filter(({ lines }) => lines.length > 0)
          .map(({ name, lines }) => (
            <Fact key={name} name={texts.person[name]}>
              <Lines lines={lines as string[]} />
            </Fact>
          ))}
      </dl>
      <p>{texts.detailsHint}</p>
    </Layout>
  );
}

const joinWords = (...words: (string | null)[]) => words.filter(Boolean).join(' ');
