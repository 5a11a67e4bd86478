#!/usr/bin/env bash
# Records the checksums of new migrations, which a test compares: a landed migration is never edited.
set -euo pipefail
cd "$(dirname "$0")/../../migrations"

recorded=../test/snapshots/migrations.sha256
for file in *.sql; do
  grep -q "  $file\$" "$recorded" || sha256sum "$file" >>"$recorded"
done
