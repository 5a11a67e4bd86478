import { defineConfig } from '@hey-api/openapi-ts';

const output = process.env['CLIENT_OUTPUT']!;

export default defineConfig({
  input: `${output}.json`,
  output: { path: output, module: { extension: '.ts' } },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
  logs: { file: false },
});
