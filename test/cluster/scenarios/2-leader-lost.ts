import type { Scenario } from '../../reliability/scenario.ts';
import { leaderFaults } from '../support/faults.ts';
import { runFaults } from '../support/series.ts';

const scenario: Scenario = {
  name: 'the leader is lost',
  quick: true,
  run: (run) => runFaults(run, leaderFaults),
};
export default scenario;
