import { listCases } from './cases.ts';
import { round, spentBy } from './cost.ts';
import { withDatabase, type Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { measureEveryQuestion, type QuestionCost } from './every-query.ts';
import { inTurns, median } from './figures.ts';
import type { Goal } from './goals.ts';
import { withLists } from './lists.ts';
import { measureTotal } from './others.ts';
import { measureWalks } from './walk.ts';

type Length = { rounds: number; seconds: number };

const most = 1.3;

/**
 * Compares the cost of the same lists at both sizes. Only lists with equally many items at both sizes count; the total
 * count, which is cached until the next write, is measured separately.
 */
export async function measureGrowth(subject: Subject, dataset: Dataset, size: number, length: Length) {
  return withDatabase(size / 10, async (...small) =>
    growthOf(
      { large: [subject, dataset], small },
      // Even, so that each size goes first equally often.
      { rounds: length.rounds === 1 ? 1 : 4, seconds: Math.min(2, length.seconds) },
    ),
  );
}

async function growthOf({ large, small }: { large: Side; small: Side }, length: Length) {
  const lists = await measureListsOfBoth(large, small, length);
  const totalOf = (side: Side) => measureTotal(...side, '/v2/coursedates', length.seconds);
  const totals = { large: await totalOf(large), small: await totalOf(small) };
  const walks = await measureWalks(large, small, '/v2/coursedates');
  const every = (await measureEveryQuestion({ large, small })).map(questionGrown);
  console.log(`counting all course dates: ${round(totals.large)} ms of PostgreSQL, against ${round(totals.small)}`);
  const wordsFor = ({ pages, ms }: typeof walks.large) => `${round(ms)} ms for each of ${pages} pages`;
  console.log(`walking course dates page by page: ${wordsFor(walks.large)}, against ${wordsFor(walks.small)}`);
  show(lists);

  // With a next page the larger data set may match more rows, e.g. a range over all rows.
  const compared = every.filter(isComparable);
  const paged = compared.filter(({ more }) => more);
  // A page past the end skips all rows.
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

/** Alternates both sizes per list; the growth is the median over the rounds. */
async function measureListsOfBoth(large: Side, small: Side, length: Length) {
  const few = { ...length, limit: false };
  // Page numbers that exist at both sizes.
  const [largeCases, smallCases] = [await listCases(...large, { within: 0.1 }), await listCases(...small)];
  return withLists(...large, largeCases, few, (ofLarge) =>
    withLists(...small, smallCases, few, async (ofSmall) => {
      const growth = ofLarge.map((): number[] => []);
      for (let round = 0; round < length.rounds; round += 1) {
        for (const [n, one] of ofLarge.entries()) {
          const [ms, before] = await inTurns(round, one.measure, ofSmall[n]!.measure);
          growth[n]!.push(spentBy(ms) / spentBy(before));
        }
      }
      return ofLarge.map((one, n) => {
        const [large, small] = [one.figures(), ofSmall[n]!.figures()];
        return {
          ...grownFrom(one.name, large, small, spentBy(large), spentBy(small)),
          growth: median(growth[n]!),
        };
      });
    }),
  );
}

type Side = [Subject, Dataset];

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

/** Node's cost depends only on the response, so the lower value is used for both sizes. */
function questionGrown({ large, small }: { large: QuestionCost; small: QuestionCost }) {
  const node = Math.min(large.nodeMs, small.nodeMs);
  const [ms, before] = [node + large.postgresMs, node + small.postgresMs];
  const [more, skipsMore] = [large.more || small.more, large.before > small.before];
  return { ...grownFrom(large.name, large, small, ms, before), more, skipsMore };
}

/** A different number of items makes the costs incomparable. */
const isComparable = (one: Grown) => one.items === one['with a tenth'];

const show = (all: Grown[]) =>
  console.table(
    all.map((one) => ({
      ...one,
      ...{ ms: round(one.ms), 'ms with a tenth': round(one['ms with a tenth']) },
      growth: isComparable(one) ? round(one.growth) : 'not compared',
    })),
  );
