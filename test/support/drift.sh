#!/usr/bin/env bash
# Fails when the tables in src/database/tables say something that no migration does.
set -euo pipefail
cd "$(dirname "$0")/../.."

copy=test/output/drift
rm -rf "$copy"
mkdir -p test/output
cp -r migrations "$copy"
npx drizzle-kit check
npx drizzle-kit generate --dialect postgresql --schema './src/database/tables/*.ts' --out "$copy" --casing snake_case --name drift
if ! diff -r migrations "$copy"; then
  echo 'The tables differ from the migrations: run "npm run migration" and review what it writes.' >&2
  exit 1
fi
