import type { Scenario } from '../../reliability/scenario.ts';
import { plannedFaults } from '../support/faults.ts';
import { runFaults } from '../support/series.ts';

const scenario: Scenario = {
  name: 'a switchover and restarts',
  quick: true,
  run: (run) => runFaults(run, plannedFaults),
};
export default scenario;
