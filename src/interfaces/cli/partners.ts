import { type Command } from 'commander';
import { approvePartner, listPartners, revokePartner } from '../../domains/school/schools/partner-service.ts';
import { command, id, run, table, type Options } from './run.ts';

type PairOptions = Options & { provider: number; partner: number };

export function partnerCommands(program: Command) {
  const partner = program
    .command('partner')
    .description('Partner connections: with an approved one, provider A lists the public items of partner B');
  const pairCommand = (name: string, description: string) =>
    command(partner, name, description)
      .requiredOption('--provider <id>', 'provider A, which lists', id)
      .requiredOption('--partner <id>', 'partner B, whose items are listed', id);

  for (const [name, description, setStatus] of [
    ['approve', 'Allow A to list the public items of B', approvePartner],
    ['revoke', 'Revoke a connection (effective immediately)', revokePartner],
  ] as const) {
    pairCommand(name, description).action((options: PairOptions) =>
      run(options, async ({ database }) => {
        const status = await setStatus(database, options.provider, options.partner);
        const text = `The connection of ${options.provider} to ${options.partner} is ${status}`;
        return { json: { provider_id: options.provider, partner_id: options.partner, status }, text };
      }),
    );
  }

  command(partner, 'list', 'List all connections').action((options: Options) =>
    run(options, async ({ database }) => {
      const rows = await listPartners(database);
      return { json: rows, text: table(rows, 'No partner connections') };
    }),
  );
}
