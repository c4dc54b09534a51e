#!/bin/sh
# Proves the Debian package: the same commit makes the same bytes, lintian has no errors, and on a fresh Debian 13 (a
# directory made by debootstrap) it installs, upgrades, is removed and purged. `npm run test:deb [-- DIRECTORY [SUITE]]`, as root;
# a directory given is used, and made where it is missing, so that a second run is quick. SUITE is another Debian than trixie, with
# the Node that it has (forky: 24). Not part of npm test: it takes minutes and downloads a Debian.
set -eu

cd "$(dirname "$0")/.."
for program in debootstrap lintian; do
    command -v "$program" >/dev/null || apt-get install -q -y --no-install-recommends "$program"
done
work=$(mktemp -d)
root=${1:-$work/root}
suite=${2:-trixie}
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf "$work"' EXIT

fail() { echo "failed: $*" >&2; exit 1; }
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
has() { inside test -e "$1" || fail "there is no $1"; }
has_not() { if inside test -e "$1"; then fail "$1 is still there"; fi; }
mode() { [ "$(inside stat -c %U:%G:%a "$1")" = "$2" ] || fail "$1 is not $2"; }

echo 'it is reproducible'
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
first=$(npm run --silent package:deb -- --out "$work/first")
npm run --silent package:deb -- --out "$work/second" >/dev/null
cmp "$first" "$work/second/$(basename "$first")"

echo 'lintian finds no error'
lintian --allow-root --fail-on error "$first" >"$work/lintian.log" || fail "$(grep '^E:' "$work/lintian.log")"

echo 'a fresh Debian'
[ -d "$root" ] || debootstrap --variant=minbase "$suite" "$root" >"$work/debootstrap.log" || fail "$(tail "$work/debootstrap.log")"
mount -t proc proc "$root/proc"
# By apt and not by debootstrap, which does not configure what systemd depends on before it unpacks systemd.
inside apt-get install -q -y --no-install-recommends nodejs systemd logrotate >"$work/apt.log" || fail "$(tail "$work/apt.log")"
inside apt-get purge -q -y cardpoll >/dev/null 2>&1 || true

echo 'installs'
cp "$first" "$root/cardpoll.deb"
inside apt-get install -q -y --no-install-recommends /cardpoll.deb >"$work/install.log" || fail "$(tail "$work/install.log")"
inside node --version
inside cardpoll version
inside cardpoll gateway --help >/dev/null
inside id cardpoll >/dev/null || fail 'no user cardpoll'
mode /etc/cardpoll/cardpoll.yaml root:cardpoll:640
mode /etc/cardpoll root:cardpoll:750
mode /var/log/cardpoll cardpoll:cardpoll:750
for file in man/man1/cardpoll.1.gz man/man8/cardpoll-daemon.8.gz man/man5/cardpoll.yaml.5.gz \
    bash-completion/completions/cardpoll doc/cardpoll/copyright; do has "/usr/share/$file"; done
inside logrotate --debug /etc/logrotate.d/cardpoll >/dev/null 2>"$work/logrotate.log" || fail "$(cat "$work/logrotate.log")"
inside systemctl is-enabled cardpoll.service >/dev/null || fail 'the service is not enabled'
inside systemd-analyze verify --man=no cardpoll.service cardpoll@1.service cardpoll-worker@1.service cardpoll-cleanup.service \
    cardpoll-cleanup.timer || fail 'the unit is not sound'
inside cardpoll daemon --config /etc/cardpoll/cardpoll.yaml 2>"$work/daemon.log" && fail 'started without a gateway'
grep -q 'gateway' "$work/daemon.log" || fail "$(cat "$work/daemon.log")"

echo 'doctor and migrate read the secrets of the unit, and never speak of other stores'
tools="$work/tools.log"
# On one line: the doctor breaks lines at 80 columns.
as() { inside setpriv --reuid="$1" --regid=cardpoll --clear-groups cardpoll "$2" --config /etc/cardpoll/cardpoll.yaml 2>&1 | tr -s '\n ' ' ' >"$tools"; }
shows() { grep -q -e "$1" "$tools" || fail "$(cat "$tools")"; }
hides() { if grep -q -e "$1" "$tools"; then fail "$(cat "$tools")"; fi; }
echo 'gateway: { url: "http://127.0.0.1:9" }' >>"$root/etc/cardpoll/cardpoll.yaml"
for secret in 'redis_url redis://:SESAME@127.0.0.1:1' 'database_url postgres://cardpoll:SESAME@127.0.0.1:1/cardpoll'; do
    echo "${secret#* }" | inside install -m 600 /dev/stdin "/etc/credstore/cardpoll.${secret%% *}"
done
for tool in doctor migrate; do
    as root "$tool"
    shows 'secret_files (/etc/credstore/cardpoll.database_url)'
    hides embedded
    hides SESAME
    as cardpoll "$tool"
    shows 'no permission to look into /etc/credstore; run this command with sudo'
    hides embedded
done
inside chown cardpoll /etc/cardpoll/cardpoll.yaml
for tool in doctor migrate; do
    as root "$tool"
    shows 'can write /etc/cardpoll/cardpoll.yaml; run chown root /etc/cardpoll/cardpoll.yaml'
done
inside chown root /etc/cardpoll/cardpoll.yaml
sed -i 's/^secret_files/#&/' "$root/etc/cardpoll/cardpoll.yaml"
for tool in doctor migrate; do
    as root "$tool"
    shows 'cardpoll.service reads .*/etc/credstore/cardpoll.database_url'
done
sed -i 's/^#secret_files/secret_files/' "$root/etc/cardpoll/cardpoll.yaml"

echo 'upgrades, and keeps what was configured'
echo 'log_level: warn' >>"$root/etc/cardpoll/cardpoll.yaml"
touch "$root/var/log/cardpoll/worker.log"
npm run --silent package:deb -- --revision 2 --out "$work/upgrade" >/dev/null
cp "$work"/upgrade/*.deb "$root/cardpoll.deb"
inside apt-get install -q -y --no-install-recommends /cardpoll.deb >"$work/upgrade.log" || fail "$(tail "$work/upgrade.log")"
inside dpkg-query -W -f '${Version}\n' cardpoll | grep -q -e '-2$' || fail 'the old version is still there'
grep -q 'log_level: warn' "$root/etc/cardpoll/cardpoll.yaml" || fail 'the configuration is lost'
mode /etc/cardpoll/cardpoll.yaml root:cardpoll:640
has /var/log/cardpoll/worker.log

echo 'is removed, and leaves configuration and data'
inside apt-get remove -q -y cardpoll >/dev/null
has_not /usr/bin/cardpoll
has_not /usr/lib/cardpoll
has /etc/cardpoll/cardpoll.yaml
has /var/log/cardpoll/worker.log

echo 'is purged'
inside apt-get purge -q -y cardpoll >/dev/null
for path in /etc/cardpoll /etc/logrotate.d/cardpoll /var/lib/cardpoll /var/log/cardpoll /var/cache/cardpoll \
    /etc/systemd/system/multi-user.target.wants/cardpoll.service /etc/systemd/system/cardpoll.service; do has_not "$path"; done
inside dpkg --audit

echo 'all well'
