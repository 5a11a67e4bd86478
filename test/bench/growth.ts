import { listCases } from './cases.ts';
import { round, totalMs } from './cost.ts';
import { withDatabase, type Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { measureEveryQuery, type QueryCost } from './every-query.ts';
import { alternate, median } from './figures.ts';
import type { Goal } from './goals.ts';
import { withLists } from './lists.ts';
import { measureTotal } from './others.ts';
import { measurePagination } from './pagination.ts';

type Length = { rounds: number; seconds: number };

const maxGrowth = 1.3;

/**
 * Compares the cost of the same lists at both sizes. Only lists with equally many items at both sizes count; the total
 * count, which is cached until the next write, is measured separately.
 */
export async function measureGrowth(subject: Subject, dataset: Dataset, size: number, length: Length) {
  return withDatabase(size / 10, async (...small) =>
    compareSizes(
      { large: [subject, dataset], small },
      // Even, so that each size goes first equally often.
      { rounds: length.rounds === 1 ? 1 : 4, seconds: Math.min(2, length.seconds) },
    ),
  );
}

async function compareSizes({ large, small }: { large: Side; small: Side }, length: Length) {
  const lists = await measureListsAtBothSizes(large, small, length);
  const countTotal = (side: Side) => measureTotal(...side, '/v2/coursedates', length.seconds);
  const totals = { large: await countTotal(large), small: await countTotal(small) };
  const pagination = await measurePagination(large, small, '/v2/coursedates');
  const queries = (await measureEveryQuery({ large, small })).map(toQueryGrowth);
  console.log(
    `counting all course dates: ${round(totals.large)} ms of PostgreSQL, with a tenth of the rows ${round(totals.small)}`,
  );
  const describeCost = ({ pages, ms }: typeof pagination.large) => `${round(ms)} ms for each of ${pages} pages`;
  console.log(
    `course dates page by page: ${describeCost(pagination.large)}, with a tenth of the rows ${describeCost(pagination.small)}`,
  );
  printRows(lists);

  // With a next page the larger data set may match more rows, e.g. a range over all rows.
  const compared = queries.filter(isComparable);
  const withMorePages = compared.filter(({ more }) => more);
  // A page past the end skips all rows.
  const pastEnd = compared.filter(({ more, skipsMore }) => !more && skipsMore);
  const sameSelection = compared.filter(({ more, skipsMore }) => !more && !skipsMore);
  const countGrown = (all: GrowthRow[]) => all.filter(({ growth }) => growth > maxGrowth).length;
  console.log(
    `${sameSelection.length} of ${queries.length} queries select equally many rows at both sizes; ${countGrown(sameSelection)} exceed the limit:`,
  );
  printRows(fastestGrowing(sameSelection, countGrown(sameSelection)));
  console.log(`${pastEnd.length} are past the end of a longer list; ${countGrown(pastEnd)} exceed the limit:`);
  printRows(fastestGrowing(pastEnd, countGrown(pastEnd)));
  console.log(
    `${withMorePages.length} return equally many of more matches; ${countGrown(withMorePages)} exceed the limit:`,
  );
  printRows(fastestGrowing(withMorePages, countGrown(withMorePages)));

  const goals: Goal[] = lists
    .filter(isComparable)
    .map(({ name, growth }) => ({ name: `${name}, growth`, must: maxGrowth, atMost: true, measured: growth }));
  goals.push({ name: 'coursedates, page by page, growth', must: maxGrowth, atMost: true, measured: pagination.growth });
  goals.push({
    name: `queries above the limit, of ${sameSelection.length}`,
    must: 0,
    atMost: true,
    measured: countGrown(sameSelection),
  });
  return { growth: { totals, walks: pagination, lists, every: queries }, goals };
}

/** Alternates both sizes per list; the growth is the median over the rounds. */
async function measureListsAtBothSizes(large: Side, small: Side, length: Length) {
  const options = { ...length, limit: false };
  // Page numbers that exist at both sizes.
  const [largeCases, smallCases] = [await listCases(...large, { within: 0.1 }), await listCases(...small)];
  return withLists(...large, largeCases, options, (largeLists) =>
    withLists(...small, smallCases, options, async (smallLists) => {
      const growth = largeLists.map((): number[] => []);
      for (let round = 0; round < length.rounds; round += 1) {
        for (const [n, one] of largeLists.entries()) {
          const [ms, before] = await alternate(round, one.measure, smallLists[n]!.measure);
          growth[n]!.push(totalMs(ms) / totalMs(before));
        }
      }
      return largeLists.map((one, n) => {
        const [large, small] = [one.figures(), smallLists[n]!.figures()];
        return {
          ...toGrowthRow(one.name, large, small, totalMs(large), totalMs(small)),
          growth: median(growth[n]!),
        };
      });
    }),
  );
}

type Side = [Subject, Dataset];

type GrowthRow = {
  name: string;
  items: number;
  'with a tenth': number;
  ms: number;
  'ms with a tenth': number;
  growth: number;
};

function toGrowthRow(
  name: string,
  large: { items: number },
  small: { items: number },
  ms: number,
  before: number,
): GrowthRow {
  return { name, items: large.items, 'with a tenth': small.items, ms, 'ms with a tenth': before, growth: ms / before };
}

const fastestGrowing = (all: GrowthRow[], count: number) =>
  all.sort((a, b) => b.growth - a.growth).slice(0, Math.max(5, Math.min(15, count)));

/** Node's cost depends only on the response, so the lower value is used for both sizes. */
function toQueryGrowth({ large, small }: { large: QueryCost; small: QueryCost }) {
  const node = Math.min(large.nodeMs, small.nodeMs);
  const [ms, before] = [node + large.postgresMs, node + small.postgresMs];
  const [more, skipsMore] = [large.more || small.more, large.before > small.before];
  return { ...toGrowthRow(large.name, large, small, ms, before), more, skipsMore };
}

/** A different number of items makes the costs incomparable. */
const isComparable = (one: GrowthRow) => one.items === one['with a tenth'];

const printRows = (all: GrowthRow[]) =>
  console.table(
    all.map((one) => ({
      ...one,
      ...{ ms: round(one.ms), 'ms with a tenth': round(one['ms with a tenth']) },
      growth: isComparable(one) ? round(one.growth) : 'not compared',
    })),
  );
