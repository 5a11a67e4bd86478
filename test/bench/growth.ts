import { listCases } from './cases.ts';
import { round, spentBy } from './cost.ts';
import { withDatabase, type Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { measureEveryQuestion, type QuestionCost } from './every-question.ts';
import type { Goal } from './goals.ts';
import { measureLists } from './lists.ts';
import { measureTotal } from './others.ts';
import { measureWalk } from './walk.ts';

type Length = { rounds: number; seconds: number };

const most = 1.3;

/**
 * The same lists over a tenth of the rows: what a request costs Node and PostgreSQL, large against small. Only where as many
 * items are answered at both sizes; counting all of them, which is done once while the data is as it is, is measured apart.
 */
export async function measureGrowth(subject: Subject, dataset: Dataset, size: number, length: Length) {
  const few = { rounds: Math.min(3, length.rounds), seconds: length.seconds, limit: false };
  const measure = async (of: Subject, set: Dataset) => ({
    // The same pages of both.
    lists: await measureLists(of, set, await listCases(of, set, { within: of === subject ? 0.1 : 1 }), few),
    total: await measureTotal(of, set, '/v2/coursedates', length.seconds),
    walk: await measureWalk(of, set, '/v2/coursedates'),
    every: await measureEveryQuestion(of, set),
  });
  const large = await measure(subject, dataset);
  const small = await withDatabase(size / 10, measure);

  const lists = large.lists.map((one, n) =>
    grownFrom(one.name, one, small.lists[n]!, spentBy(one), spentBy(small.lists[n]!)),
  );
  const every = large.every.map((one, n) => questionGrown(one, small.every[n]!));
  const totals = { large: large.total, small: small.total };
  const walks = { large: large.walk, small: small.walk, growth: large.walk.ms / small.walk.ms };
  console.log(`counting all course dates: ${round(totals.large)} ms of PostgreSQL, against ${round(totals.small)}`);
  const walked = ({ pages, ms }: typeof large.walk) => `${round(ms)} ms for each of ${pages} pages`;
  console.log(`walking course dates page by page: ${walked(walks.large)}, against ${walked(walks.small)}`);
  show(lists);

  // Who is answered a page of more may have selected more of the larger set, as a range that holds all of it does.
  const compared = every.filter(isComparable);
  const paged = compared.filter(({ more }) => more);
  // Who looks behind the end skips all there are.
  const behind = compared.filter(({ more, skipsMore }) => !more && skipsMore);
  const whole = compared.filter(({ more, skipsMore }) => !more && !skipsMore);
  const grown = (all: Grown[]) => all.filter(({ growth }) => growth > most).length;
  console.log(`of ${every.length} questions ${whole.length} select as many at both sizes; ${grown(whole)} grow more:`);
  show(mostGrown(whole, grown(whole)));
  console.log(`${behind.length} look behind the end of more; ${grown(behind)} grow more:`);
  show(mostGrown(behind, grown(behind)));
  console.log(`${paged.length} are answered as many of more; ${grown(paged)} grow more:`);
  show(mostGrown(paged, grown(paged)));

  const goals: Goal[] = lists
    .filter(isComparable)
    .map(({ name, growth }) => ({ name: `${name}, growth`, must: most, atMost: true, measured: growth }));
  goals.push({ name: 'coursedates, page by page, growth', must: most, atMost: true, measured: walks.growth });
  goals.push({
    name: `of ${whole.length} questions, those that grow more`,
    must: 0,
    atMost: true,
    measured: grown(whole),
  });
  return { growth: { totals, walks, lists, every }, goals };
}

type Grown = {
  name: string;
  items: number;
  'with a tenth': number;
  ms: number;
  'ms with a tenth': number;
  growth: number;
};

function grownFrom(
  name: string,
  large: { items: number },
  small: { items: number },
  ms: number,
  before: number,
): Grown {
  return { name, items: large.items, 'with a tenth': small.items, ms, 'ms with a tenth': before, growth: ms / before };
}

const mostGrown = (all: Grown[], count: number) =>
  all.sort((a, b) => b.growth - a.growth).slice(0, Math.max(5, Math.min(15, count)));

/** What Node takes does not depend on what is not answered; so the lesser of the two stands for both. */
function questionGrown(large: QuestionCost, small: QuestionCost) {
  const node = Math.min(large.nodeMs, small.nodeMs);
  const [ms, before] = [node + large.postgresMs, node + small.postgresMs];
  const [more, skipsMore] = [large.more || small.more, large.before > small.before];
  return { ...grownFrom(large.name, large, small, ms, before), more, skipsMore };
}

/** Another number of items is another question. */
const isComparable = (one: Grown) => one.items === one['with a tenth'];

const show = (all: Grown[]) =>
  console.table(
    all.map((one) => ({
      ...one,
      ...{ ms: round(one.ms), 'ms with a tenth': round(one['ms with a tenth']) },
      growth: isComparable(one) ? round(one.growth) : 'not compared',
    })),
  );
