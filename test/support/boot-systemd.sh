#!/bin/sh
# Boots a private systemd on an overlay of this machine's root: run as PID 1 of new namespaces (private-systemd.ts says how).
# $1 an empty directory, $2 whether cardpoll is to be `installed`, from $3 the repository, for $4 node. Nothing of it outlives the
# namespaces.
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
root="$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys" 2>/dev/null || mount --rbind /sys "$root/sys"
# Of the control groups no more than the hierarchy systemd keeps its units in.
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
else
    mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
    mkdir "$root/sys/fs/cgroup/systemd"
    mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
fi
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
# Units of this machine do not start, and nothing sets its kernel up anew.
rm -rf "$root/etc/systemd/system"
mkdir "$root/etc/systemd/system"
for unit in systemd-sysctl systemd-modules-load systemd-binfmt systemd-udevd systemd-udev-trigger systemd-remount-fs \
    systemd-random-seed systemd-update-utmp; do
    ln -s /dev/null "$root/etc/systemd/system/$unit.service"
done
# What a container's root says so that no package starts anything; here something can start it.
rm -f "$root/usr/sbin/policy-rc.d"
# A journal, where one is started, is that of the units alone.
mkdir -p "$root/etc/systemd/journald.conf.d"
printf '[Journal]\nStorage=volatile\nReadKMsg=no\nAudit=no\n' >"$root/etc/systemd/journald.conf.d/private.conf"
ln -s /dev/null "$root/etc/systemd/system/systemd-journald-audit.socket"
printf '[Unit]\nDefaultDependencies=no\n' >"$root/etc/systemd/system/private.target"
if [ "$2" = installed ]; then
    mkdir -p "$root/opt/cardpoll" "$root/etc/cardpoll"
    mount --bind "$3" "$root/opt/cardpoll"
    mount -o remount,bind,ro "$root/opt/cardpoll"
    touch "$root/opt/node"
    mount --bind "$4" "$root/opt/node"
    printf '#!/bin/sh\nexec /opt/node /opt/cardpoll/bin/cardpoll.js "$@"\n' >"$root/usr/bin/cardpoll"
    chmod 755 "$root/usr/bin/cardpoll"
    cp "$3"/deploy/systemd/* "$root/etc/systemd/system/"
fi
# Not chroot: below one nobody may make user namespaces (PrivateUsers).
cd "$root"
mkdir old
pivot_root . old
umount -l /old
# As every container manager leaves it: credentials of a unit are mounted by a process with a namespace of its own.
mount --make-rshared /
exec env -i container=private PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --system --unit=private.target --log-target=console --show-status=0
