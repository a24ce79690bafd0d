#!/usr/bin/env bash
# Makes Debian packages of the engine as a library: libberth1, libberth-dev and python3-berth.
# usage: hack/package/library-debs.sh OUT [FOLDER]     (OUT: the folder with lib/ and python/; the packages come into FOLDER, OUT/package)
# VERSION: as for deb.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$1
version=${VERSION:-$(sed -e 's/^v//' -e 's/-/+/' hack/version)}
arch=$(dpkg --print-architecture)
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
umask 022
dest=${2:-$out/package}
mkdir -p "$dest"
for f in lib/libberth.so.1 include/berth.h python/berth/__init__.py; do
  [ -e "$out/$f" ] || { echo "library-debs.sh: $out/$f is not there; run make python" >&2; exit 1; }
done
date=$(git log -1 --format=%aD 2>/dev/null || date -R -r hack/version)

# What every package has: $1 the package, then lines of its control file on standard input.
finish() {
  local tree=$root/$1
  install -d "$tree/DEBIAN" "$tree/usr/share/doc/$1" "$tree/usr/share/lintian/overrides"
  install -m 644 hack/package/copyright "$tree/usr/share/doc/$1/copyright"
  printf 'berth (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md of the package berth for what is new.\n\n -- Berth maintainers <maintainers@berth.invalid>  %s\n' \
    "$version" "$date" | gzip -9n >"$tree/usr/share/doc/$1/changelog.gz"
  sed "s/^berth:/$1:/" hack/package/lintian-overrides >"$tree/usr/share/lintian/overrides/$1"
  find "$tree" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
  {
    printf 'Package: %s\nSource: berth\nVersion: %s\nArchitecture: %s\nMaintainer: Berth maintainers <maintainers@berth.invalid>\n' "$1" "$version" "$arch"
    printf 'Installed-Size: %s\nPriority: optional\n' "$(du -sk --exclude=DEBIAN "$tree" | cut -f1)"
    cat
  } >"$tree/DEBIAN/control"
  (cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  dpkg-deb --root-owner-group -Zxz --build "$tree" "$dest/$1_${version}_$arch.deb" >/dev/null
}

install -d "$root/libberth1/usr/lib/$triplet"
strip --strip-unneeded --remove-section=.comment --remove-section=.note -o "$root/libberth1/usr/lib/$triplet/libberth.so.1" "$out/lib/libberth.so.1"
mkdir "$root/debian"
printf 'Source: berth\n\nPackage: libberth1\nArchitecture: any\n' >"$root/debian/control"
depends=$(cd "$root" && dpkg-shlibdeps -O --ignore-missing-info "libberth1/usr/lib/$triplet/libberth.so.1" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { echo "library-debs.sh: dpkg-shlibdeps found no library" >&2; exit 1; }
install -d "$root/libberth1/DEBIAN"
echo "libberth 1 libberth1 (>= $version)" >"$root/libberth1/DEBIAN/shlibs"
echo "activate-noawait ldconfig" >"$root/libberth1/DEBIAN/triggers"
finish libberth1 <<END
Depends: $depends
Section: libs
Description: Kubernetes' scheduling engine as a library
 Decides where pods go as releases of kube-scheduler do, by calls of C functions.
 .
 This package has the library that programs are linked with.
END

install -d "$root/libberth-dev/usr/include" "$root/libberth-dev/usr/lib/$triplet/pkgconfig" "$root/libberth-dev/usr/share/doc/libberth-dev/examples"
install -m 644 "$out/include/berth.h" "$root/libberth-dev/usr/include/berth.h"
ln -s libberth.so.1 "$root/libberth-dev/usr/lib/$triplet/libberth.so"
sed "s|@VERSION@|$version|; s|@PREFIX@|/usr|; s|{prefix}/lib|{prefix}/lib/$triplet|" pkg/capi/berth.pc.in >"$root/libberth-dev/usr/lib/$triplet/pkgconfig/berth.pc"
install -m 644 pkg/capi/example.c "$root/libberth-dev/usr/share/doc/libberth-dev/examples/"
finish libberth-dev <<END
Depends: libberth1 (= $version)
Section: libdevel
Description: Kubernetes' scheduling engine as a library: header
 Decides where pods go as releases of kube-scheduler do, by calls of C functions.
 .
 This package has the header, the pkg-config file and an example.
END

install -d "$root/python3-berth/usr/lib/python3/dist-packages/berth"
install -m 644 "$out"/python/berth/*.py "$out"/python/berth/py.typed "$root/python3-berth/usr/lib/python3/dist-packages/berth/"
finish python3-berth <<END
Depends: libberth1 (= $version), python3, python3-numpy
Section: python
Description: Kubernetes' scheduling engine for Python
 Decides where pods go as releases of kube-scheduler do, and takes rules that
 are functions of NumPy arrays.
END
echo "library packages: $dest/{libberth1,libberth-dev,python3-berth}_${version}_$arch.deb"
