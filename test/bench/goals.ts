/** `must` is the limit (a maximum where less is better), `aim` the target. */
export type Goal = { name: string; must: number; aim?: number; atMost?: true; measured: number };

export const isMet = ({ must, atMost, measured }: Goal) => (atMost ? measured <= must : measured >= must);

/** Formats one line per goal and counts the goals missed. */
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

/** Required share of pgbench's rate for uncached lists, by case name. */
export const coldShares: Record<string, { must: number; aim: number }> = {
  coursedates: { must: 0.2, aim: 0.25 },
  'coursedates, three includes': { must: 0.3, aim: 0.33 },
  courses: { must: 0.22, aim: 0.28 },
  participants: { must: 0.3, aim: 0.33 },
  orders: { must: 0.43, aim: 0.45 },
};

/** Required size of compressed lists, as a share of their bytes. */
export const compressedShares: Record<string, number> = { courses: 0.2, 'coursedates, three includes': 0.1 };

/** Required rate of cached lists, as a multiple of pgbench's. */
export const warmTimes: Record<string, number> = { coursedates: 2, courses: 5, participants: 5, orders: 5 };
