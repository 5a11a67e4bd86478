import { formatDay } from '../../../../core/date-format.ts';
import { fill } from '../../fill.ts';
import type { Texts } from '../../texts.ts';
import type { PersonalView } from '../view.ts';
import { capitalized, Fact, Lines } from '../../facts.tsx';
import { Layout } from './layout.tsx';

/** A new address, which is shown once, or the end of one. */
export type FeedChange = { address: string } | 'ended';
type Feed = { createdAt: string | undefined; change: FeedChange | undefined };

/** The person's data, read-only, and the address of the personal calendar. */
export function Details({ view, feed }: { view: PersonalView; feed: Feed }) {
  const { language, texts, person } = view;
  const fact = (name: keyof typeof texts.fields, ...values: (string | null)[]) => {
    const lines = values.filter((value): value is string => Boolean(value));
    return (
      lines.length > 0 && (
        <Fact name={texts.fields[name]}>
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
        {fact('date_of_birth', person.dateOfBirth && capitalized(formatDay(person.dateOfBirth, language)))}
        {fact('company', person.company)}
        {fact('department', person.department)}
        {fact('position', person.position)}
        {(['home', 'work', 'invoice'] as const).map(address)}
      </dl>
      <p>{texts.detailsHint}</p>
      <CalendarFeed view={view} feed={feed} />
    </Layout>
  );
}

function CalendarFeed({
  view: { language, texts, paths },
  feed: { createdAt, change },
}: Parameters<typeof Details>[0]) {
  const { feed } = texts;
  return (
    <section aria-labelledby="calendar">
      <h2 id="calendar">{feed.title}</h2>
      <p>{feed.help}</p>
      {change === 'ended' && <p role="status">{feed.ended}</p>}
      {typeof change === 'object' && <NewAddress texts={feed} address={change.address} />}
      {createdAt !== undefined && change === undefined && (
        <p>{fill(feed.exists, formatDay(createdAt.slice(0, 10), language))}</p>
      )}
      <form method="post" action={paths.details}>
        <p class="buttons">
          <button name="calendar" value="create" class={createdAt === undefined ? undefined : 'secondary'}>
            {createdAt === undefined ? feed.create : feed.replace}
          </button>
          {createdAt !== undefined && (
            <button name="calendar" value="end" class="secondary">
              {feed.end}
            </button>
          )}
        </p>
      </form>
    </section>
  );
}

function NewAddress({ texts, address }: { texts: Texts['feed']; address: string }) {
  return (
    <>
      <p role="status">{texts.created}</p>
      <p>
        <label for="address">{texts.address}</label>
        <input id="address" readonly value={address} aria-describedby="address-help" />
      </p>
      <p>
        <a class="button" href={address.replace(/^https?:/, 'webcal:')}>
          {texts.subscribe}
        </a>
      </p>
      <p id="address-help">{texts.how}</p>
      <p>{texts.secret}</p>
    </>
  );
}

const joinWords = (...words: (string | null)[]) => words.filter(Boolean).join(' ');
