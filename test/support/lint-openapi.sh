#!/usr/bin/env bash
# Fails when the served OpenAPI document breaks a rule of .redocly.yaml.
set -euo pipefail
cd "$(dirname "$0")/../.."

mkdir -p test/output
npx tsx test/support/openapi-document.ts --served >test/output/openapi.json
REDOCLY_SUPPRESS_UPDATE_NOTICE=true npx redocly lint --config .redocly.yaml test/output/openapi.json
