import { defineTask, deleteWhere, old } from '../../database/housekeeping.ts';
import { definePlugin } from '../../interfaces/plugin/define-plugin.ts';
import { transferSettings } from './settings.ts';

/** A school's data as a file, and the demo data, which is imported the same way. */
export const transfer = definePlugin({
  name: 'transfer',
  settings: transferSettings,
  commands: [{ names: ['import', 'export'], load: async () => (await import('./commands.ts')).importExportCommands }],
  housekeeping: [
    // Of imports that did not end; each import deletes its own.
    defineTask('staged_lines', 7, deleteWhere('staged_lines', 'provider_id, line, part', old('staged_at'))),
  ],
  loadFirstData: async (context) => (await import('./demo/load.ts')).loadDemoAtStart(context),
  exportProvider: async (...of) => (await import('./commands.ts')).exportFile(...of),
  docs: { pages: ['import', 'import-format'] },
});
