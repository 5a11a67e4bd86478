import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import '../../src/app.ts';
import '../../src/jobs.ts';
import '../../src/database/housekeeping.ts';
import '../../src/plugins.ts';
import '../../src/domains/records/school-deletion/service.ts';
import '../../src/plugins/delivery/server.ts';
import '../../src/plugins/pages/catalog/find-school.ts';

export { statements as allStatements } from '../../src/database/statement.ts';

/** The names of all statements that the source declares, also in modules that nothing has imported yet. */
export function readStatementNames() {
  const src = join(import.meta.dirname, '../../src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
  return files.flatMap((file) =>
    [...readFileSync(join(src, file), 'utf8').matchAll(/\bstatement\(\s*'(\w+)'/g)].map(([, name]) => name!),
  );
}
