import { failedChecks, type Scenario } from '../../reliability/scenario.ts';
import { killBehind } from '../support/faults.ts';
import { observeFault, startLoadedCluster } from '../support/observe.ts';

const scenario: Scenario = {
  name: 'control: asynchronous replication',
  quick: true,
  async run(run) {
    const loaded = await startLoadedCluster(run, { synchronous: false });
    const { comparison, acknowledged } = await observeFault(loaded, killBehind(3_000));
    return {
      figures: `${acknowledged} acknowledged, ${comparison.lost} lost`,
      failures: failedChecks({ 'control: lost writes are detected': comparison.lost > 0 }),
    };
  },
};
export default scenario;
