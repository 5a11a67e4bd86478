#!/usr/bin/env bash
# Records the checksums of new migrations, which a test compares: a landed migration is never edited. Keeps the newest of
# drizzle-kit's snapshots, the only one that it reads.
set -euo pipefail
cd "$(dirname "$0")/../../migrations"

recorded=../test/snapshots/migrations.sha256
for file in *.sql; do
  grep -q "  $file\$" "$recorded" || sha256sum "$file" >>"$recorded"
done
ls meta/*_snapshot.json | sort -r | tail -n +2 | xargs rm -f
# One line, since nobody reads it.
node -e 'const { readFileSync, writeFileSync } = require("node:fs");
  for (const file of process.argv.slice(1)) writeFileSync(file, `${JSON.stringify(JSON.parse(readFileSync(file, "utf8")))}\n`);' meta/*_snapshot.json
