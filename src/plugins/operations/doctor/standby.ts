import { ok, warning, type SystemCheck } from '../../../interfaces/plugin/checks.ts';

export const standbyCheck: SystemCheck = {
  check: 'standby',
  async run({ standby }) {
    if (!standby) return [];
    const { fault, lag } = await standby.examine();
    if (fault)
      return [warning(`Lists are read from the primary, since the standby is not used: ${fault.text}; ${fault.hint}`)];
    const text = lag ? `is ${lag.seconds.toFixed(1)} seconds behind` : 'answers';
    return [ok(`The standby ${text}`)];
  },
};
