import { findObstacles, findUndistributed, isDistributed } from '../../database/distribution.ts';
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
    const { copied, distributed } = await findUndistributed(pool);
    const faults = [
      ...(DATABASE_DISTRIBUTED
        ? []
        : [
            'The tables are distributed, but DATABASE_DISTRIBUTED is false: lists need every server, and old rows stay',
          ]),
      ...[...copied, ...distributed].map((name) => `The table ${name} is not distributed: run \`distribute\``),
      ...(await findObstacles(pool, TIMEZONE)),
    ];
    return faults.length > 0
      ? faults.map(error)
      : [ok('The tables are distributed, and the servers have the settings for it')];
  },
};
