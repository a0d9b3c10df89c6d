#!/bin/sh
# scripts/install-packages with a made-up package database (a dpkg-query, an apt-get and an id that only say what
# they were asked) and made-up lists.
set -eu
folder=${TMPDIR:?}
mkdir "$folder/bin" "$folder/scripts"
cp scripts/install-packages "$folder/scripts/"
printf '# a comment\nalpha\nbeta|gamma # either will do\n' >"$folder/scripts/packages-one.txt"
echo delta >"$folder/scripts/packages-two.txt"

cat >"$folder/bin/dpkg-query" <<'END'
#!/bin/sh
# Prints each package of $INSTALLED that is asked for; as the real one, fails when a name is unknown.
shift 2
status=0
for name; do
    case " $INSTALLED " in *" $name "*) echo "installed $name" ;; *) status=1 ;; esac
done
exit $status
END
printf '#!/bin/sh\necho "apt-get $*"\n' >"$folder/bin/apt-get"
printf '#!/bin/sh\necho "$FAKE_UID"\n' >"$folder/bin/id"
printf '#!/bin/sh\nexit 1\n' >"$folder/bin/sudo"
chmod +x "$folder"/bin/*
PATH=$folder/bin:$PATH
export PATH INSTALLED FAKE_UID

expect() {
    [ "$2" = "$3" ] || { printf '%s\nexpected: %s\ngot:      %s\n' "$1" "$2" "$3"; exit 1; }
}

FAKE_UID=0
INSTALLED='alpha gamma delta'
expect 'nothing is missing: silence' '' "$("$folder/scripts/install-packages" one two 2>&1)"

INSTALLED='gamma'
expect 'root installs what is missing' 'installing missing packages: alpha delta
apt-get -q update
apt-get install -y --no-install-recommends alpha delta' "$("$folder/scripts/install-packages" one two 2>&1)"

INSTALLED='alpha'
expect 'the first of two alternatives is installed' 'apt-get install -y --no-install-recommends beta' \
    "$("$folder/scripts/install-packages" one 2>&1 | tail -n 1)"

FAKE_UID=1000
INSTALLED=''
if output=$("$folder/scripts/install-packages" one two 2>&1 </dev/null); then
    echo 'without root and sudo it must fail'
    exit 1
fi
expect 'the exact command is printed' \
    '    apt-get update && apt-get install -y --no-install-recommends alpha beta delta' \
    "$(printf '%s\n' "$output" | grep apt-get)"

printf '#!/bin/sh\nshift\nexec "$@"\n' >"$folder/bin/sudo"
INSTALLED='alpha beta'
expect 'sudo that asks no password is used' 'apt-get install -y --no-install-recommends delta' \
    "$("$folder/scripts/install-packages" one two 2>&1 </dev/null | tail -n 1)"
