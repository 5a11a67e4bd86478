import { type Command } from 'commander';
import { Problem } from '../../../core/errors.ts';
import { createDemo } from './first-start.ts';
import { command, run, type Options } from '../../../interfaces/cli/run.ts';

export function demoCommand(program: Command) {
  command(program, 'demo', 'Load the demo data into an empty database').action((options: Options) =>
    run(
      options,
      async ({ config, database }) => {
        const apiKey = await createDemo(config, database);
        if (apiKey === null)
          throw new Problem('invalid', 'The demo data needs an empty database; this one has providers');
        return { json: { api_key: apiKey }, text: `Loaded the demo data. API key of the demo school: ${apiKey}` };
      },
      { createEmbedded: true },
    ),
  );
}
