/** What is promised: at least `must` (or at most, where less is better), and hopefully `aim`. */
export type Goal = { name: string; must: number; aim?: number; atMost?: true; measured: number };

export const isMet = ({ must, atMost, measured }: Goal) => (atMost ? measured <= must : measured >= must);

/** One line per goal, and how many were missed. */
export function report(goals: Goal[]) {
  const sign = ({ atMost }: Goal) => (atMost ? '≤' : '≥');
  console.table(
    goals.map((goal) => ({
      name: goal.name,
      must: `${sign(goal)} ${goal.must}`,
      aim: goal.aim === undefined ? '' : `${sign(goal)} ${goal.aim}`,
      measured: Number(goal.measured.toFixed(2)),
      met: isMet(goal) ? 'yes' : 'NO',
    })),
  );
  return goals.filter((goal) => !isMet(goal)).length;
}

/** Shares of pgbench's rate that a cold list must reach, by the name of its case. */
export const coldShares: Record<string, { must: number; aim: number }> = {
  coursedates: { must: 0.2, aim: 0.25 },
  'coursedates, three includes': { must: 0.3, aim: 0.33 },
  courses: { must: 0.22, aim: 0.28 },
  participants: { must: 0.3, aim: 0.33 },
  orders: { must: 0.43, aim: 0.45 },
};

/** How many times as often as pgbench alone reads its rows a list must be answered while nothing changes. */
export const warmTimes: Record<string, number> = { coursedates: 2, courses: 5, participants: 5, orders: 5 };
