import { formatDay } from '../../../core/date-format.ts';
import type { PersonalView } from '../view.ts';
import { capitalized, Fact, Lines } from './facts.tsx';
import { Layout } from './layout.tsx';

/** The person's data, read-only. */
export function Details({ view }: { view: PersonalView }) {
  const { language, texts, person } = view;
  const fact = (name: keyof typeof texts.person, ...values: (string | null)[]) => {
    const lines = values.filter((value): value is string => Boolean(value));
    return (
      lines.length > 0 && (
        <Fact name={texts.person[name]}>
          <Lines lines={lines} />
        </Fact>
      )
    );
  };
  const address = (kind: 'home' | 'work' | 'invoice') => {
    const column = <Name extends string>(name: Name) => `${kind}${name}` as const;
    return fact(
      column('Address'),
      ...[person[column('Address')], person[column('Address2')], person[column('Address3')]],
      ...[joinWords(person[column('Zipcode')], person[column('City')]), person[column('Phone')]],
    );
  };
  return (
    <Layout view={view} title={texts.details} current="details">
      <h1>{texts.details}</h1>
      <dl>
        {fact('name', joinWords(person.firstname, person.lastname))}
        {fact('username', person.username)}
        {fact('email', person.email)}
        {fact('phone', person.phone)}
        {fact('dateOfBirth', person.dateOfBirth && capitalized(formatDay(person.dateOfBirth, language)))}
        {fact('company', person.company)}
        {fact('department', person.department)}
        {fact('position', person.position)}
        {(['home', 'work', 'invoice'] as const).map(address)}
      </dl>
      <p>{texts.detailsHint}</p>
    </Layout>
  );
}

const joinWords = (...words: (string | null)[]) => words.filter(Boolean).join(' ');
