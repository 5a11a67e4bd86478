#!/usr/bin/env bash
# Generates the typed client of the tests into test/client; with --check it fails when test/client is not current.
set -euo pipefail
cd "$(dirname "$0")/../.."

output=test/client
[ "${1:-}" != --check ] || output=test/output/client
mkdir -p test/output
npx tsx test/support/openapi-document.ts >test/output/openapi-client.json
CLIENT_OUTPUT="$output" npx openapi-ts --file test/support/client.config.ts --silent
if ! diff -r test/client "$output"; then
  echo 'test/client differs from the OpenAPI document: run "npm run client" and review what it writes.' >&2
  exit 1
fi
