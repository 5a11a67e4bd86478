export { buildApp } from '../../src/app.ts';
export { openDatabase } from '../../src/database/client.ts';
