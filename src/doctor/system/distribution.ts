import { findObstacles, isDistributed } from '../../database/distribution.ts';
import { error, ok, warning, type SystemCheck } from './check.ts';

export const distributionCheck: SystemCheck = {
  check: 'distribution',
  async run({ pool, config: { DATABASE_DISTRIBUTED, TIMEZONE } }) {
    if (!(await isDistributed(pool)))
      return [
        DATABASE_DISTRIBUTED
          ? warning('DATABASE_DISTRIBUTED is true, but the tables are on one server: lists of large schools are slow')
          : ok('The tables are on one server'),
      ];
    const found = [
      ...(DATABASE_DISTRIBUTED
        ? []
        : [warning('The tables are distributed, but DATABASE_DISTRIBUTED is false: a list needs every server')]),
      ...(await findObstacles(pool, TIMEZONE)).map(error),
    ];
    return found.length > 0 ? found : [ok('The tables are distributed, and the servers have the settings for it')];
  },
};
