#!/usr/bin/env bash
# Generates the typed client into the folder, by default test/output/client, as docs/typed-clients.md describes.
set -euo pipefail
cd "$(dirname "$0")/../.."

export CLIENT_OUTPUT="${1:-test/output/client}"
mkdir -p "$(dirname "$CLIENT_OUTPUT")"
npx tsx test/support/openapi-document.ts >"$CLIENT_OUTPUT.json"
npx openapi-ts --file test/support/client.config.ts --silent
