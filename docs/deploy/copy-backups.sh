#!/usr/bin/env bash
# Copies each backup that is not in REMOTE yet, and the list of erasures each time, encrypted for RECIPIENTS; run it
# daily, after BACKUP_AT.
# REMOTE is a folder of rclone, such as s3:school-backups.
set -euo pipefail

: "${BACKUP_DIR:?}" "${REMOTE:?}" "${RECIPIENTS:?}"
rclone mkdir "$REMOTE"
copied=$(rclone lsf "$REMOTE")
for file in "$BACKUP_DIR"/*.zip; do
  name="$(basename "$file").age"
  if grep --quiet --fixed-strings --line-regexp "$name" <<<"$copied"; then continue; fi
  # An incomplete copy would count as one the next time.
  age --encrypt --recipients-file "$RECIPIENTS" "$file" | rclone rcat "$REMOTE/$name" ||
    { rclone deletefile "$REMOTE/$name"; exit 1; }
done

# It grows. The copy of before stays until the new one is complete.
list="$BACKUP_DIR/erasures.jsonl"
if [ -e "$list" ]; then
  age --encrypt --recipients-file "$RECIPIENTS" "$list" | rclone rcat "$REMOTE/erasures.jsonl.new" ||
    { rclone deletefile "$REMOTE/erasures.jsonl.new"; exit 1; }
  rclone moveto "$REMOTE/erasures.jsonl.new" "$REMOTE/erasures.jsonl.age"
fi
