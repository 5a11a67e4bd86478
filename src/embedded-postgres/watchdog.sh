# The watchdog: runs initdb if necessary, runs the server, restarts it when it dies, and stops it at the pipe's
# end-of-file. Its reader process confirms greetings, and ends if the watchdog was killed.
# Arguments: initdb, its sync option, then the server's command.
umask 077
[ "$(cat postgres.log 2>/dev/null | wc -c)" -lt 2000000 ] || rm -f postgres.log
exec 3<&0 </dev/null >>postgres.log 2>&1
echo '--- start'
trap '' HUP INT QUIT TERM
trap 'ending=1' USR1
ending= watchdog=$$
echo $$ >watchdog.pid
rm -rf seen/* data.new.*

(
  while read -r greeting; do
    kill -0 $watchdog || exit
    case $greeting in '' | *[!0-9a-f]*) ;; *) : >"seen/$greeting" ;; esac
  done
  exec </dev/null
  kill -0 $watchdog || { read -r server rest <data/postmaster.pid && kill -INT $server; exit; }
  while kill -USR1 $watchdog; do sleep 0.1; done
) <&3 3<&- 2>/dev/null &
reader=$!
exec 3<&-
trap 'rm -f watchdog.pid; kill -KILL $reader 2>/dev/null' EXIT
in_use() { [ -z "$ending" ] && kill -0 $reader 2>/dev/null; }

# Only the reader's signal ends the first wait early; a background job ignores an INT that comes too soon.
run() {
  "$@" &
  child=$!
  wait $child
  status=$?
  while kill -0 $child 2>/dev/null; do kill -INT $child 2>/dev/null; sleep 0.02; done
}

initdb=$1 sync=$2
shift 2
if [ ! -e data/PG_VERSION ]; then
  run "$initdb" -D data.new.$$ -U booking --auth=trust --encoding=UTF8 --locale=C --locale-provider=builtin \
    --builtin-locale=C.UTF-8 --no-instructions $sync >/dev/null
  in_use && [ $status = 0 ] && [ ! -e data ] && mv data.new.$$ data
  rm -rf data.new.$$
  [ -e data ] || exit 1
fi

failures=0
while in_use; do
  begun=$(date +%s)
  run "$@"
  [ $(($(date +%s) - begun)) -lt 10 ] || failures=0
  failures=$((failures + 1))
  [ $failures -lt 12 ] || exit 1
  in_use && sleep 0.2
done
