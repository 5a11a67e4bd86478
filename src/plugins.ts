import type { Plugin } from './interfaces/plugin/define-plugin.ts';
import { backup } from './plugins/backup/index.ts';
import { delivery } from './plugins/delivery/index.ts';
import { docs } from './plugins/docs/index.ts';
import { operations } from './plugins/operations/index.ts';
import { pages } from './plugins/pages/index.ts';
import { transfer } from './plugins/transfer/index.ts';

/** The removable plugins, one folder each. Commands, checks and metrics of several plugins have this order. */
export const plugins: readonly Plugin[] = [pages, docs, backup, delivery, operations, transfer];
