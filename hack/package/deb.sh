#!/usr/bin/env bash
# Makes a Debian package of the programs that were built: one file that is all of them (cmd/berth), with links.
# usage: hack/package/deb.sh OUT [FOLDER]     (OUT: the folder with bin/; the package comes into FOLDER, OUT/package)
# VERSION: the package's version; default: hack/version without its v, as Debian writes it ("1.10.0~berth.1")
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$1
# "v1.10.0-berth.1" would mean upstream version 1.10.0 with Debian revision "berth.1", but this is a native package.
version=${VERSION:-$(sed -e 's/^v//' -e 's/-/+/' hack/version)}
arch=$(dpkg --print-architecture)
programs=(kube-scheduler schedsim hollow-apiserver)
here=hack/package
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
umask 022
dest=${2:-$out/package}
mkdir -p "$dest"

tree=$root/berth
install -d "$tree"/{DEBIAN,usr/bin,usr/lib/berth,usr/share/man/man8,usr/share/bash-completion/completions,lib/systemd/system,etc/default} \
  "$tree"/usr/share/doc/berth/examples "$tree"/usr/share/lintian/overrides
for p in berth "${programs[@]}"; do
  [ -x "$out/bin/$p" ] || { echo "deb.sh: $out/bin/$p is not there; run make deb" >&2; exit 1; }
done
strip --remove-section=.comment --remove-section=.note -o "$tree/usr/lib/berth/berth" "$out/bin/berth"
chmod 755 "$tree/usr/lib/berth/berth"
for p in "${programs[@]}"; do
  ln -s ../lib/berth/berth "$tree/usr/bin/$p"
  hack/man.sh "$out/bin/$p" | gzip -9n >"$tree/usr/share/man/man8/$p.8.gz"
  # Programs print their own shell completion.
  for shell in bash:bash-completion/completions/$p zsh:zsh/vendor-completions/_$p fish:fish/vendor_completions.d/$p.fish; do
    "$out/bin/$p" completion "${shell%%:*}" >"$root/completion"
    install -D -m 644 "$root/completion" "$tree/usr/share/${shell#*:}"
  done
done
sed 's|/usr/local/bin/|/usr/bin/|; /^# systemd unit/d' hack/deploy/kube-scheduler.service >"$tree/lib/systemd/system/kube-scheduler.service"
install -m 644 $here/default "$tree/etc/default/kube-scheduler"
cp -r policies hack/deploy "$tree/usr/share/doc/berth/examples/"
find "$tree/usr/share/doc/berth/examples" -name 'Dockerfile*' -delete
install -m 644 README.md SECURITY.md "$tree/usr/share/doc/berth/" 2>/dev/null || install -m 644 README.md "$tree/usr/share/doc/berth/"
for p in "${programs[@]}"; do install -m 644 "cmd/$p/README.md" "$tree/usr/share/doc/berth/$p.md"; done
gzip -9n "$tree"/usr/share/doc/berth/*.md
install -m 644 $here/copyright "$tree/usr/share/doc/berth/copyright"
install -m 644 $here/lintian-overrides "$tree/usr/share/lintian/overrides/berth"
date=$(git log -1 --format=%aD 2>/dev/null || date -R -r hack/version)
printf 'berth (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz for what is new.\n\n -- Berth maintainers <maintainers@berth.invalid>  %s\n' \
  "$version" "$date" | gzip -9n >"$tree/usr/share/doc/berth/changelog.gz"
if [ -f CHANGELOG.md ]; then gzip -9nc CHANGELOG.md >"$tree/usr/share/doc/berth/CHANGELOG.md.gz"; fi
find "$tree" -type d -exec chmod 755 {} + -o -type f ! -perm -u+x -exec chmod 644 {} +

# The libraries that the programs are linked with, as packages with versions.
mkdir "$root/debian"
printf 'Source: berth\n\nPackage: berth\nArchitecture: any\n' >"$root/debian/control"
depends=$(cd "$root" && dpkg-shlibdeps -O --ignore-missing-info berth/usr/lib/berth/berth 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { echo "deb.sh: dpkg-shlibdeps found no library" >&2; exit 1; }
size=$(du -sk --exclude=DEBIAN "$tree" | cut -f1)
sed -e "s/@VERSION@/$version/; s/@ARCH@/$arch/; s/@DEPENDS@/$depends/; s/@SIZE@/$size/" $here/control.in >"$tree/DEBIAN/control"
echo /etc/default/kube-scheduler >"$tree/DEBIAN/conffiles"
install -m 755 $here/{postinst,prerm,postrm} "$tree/DEBIAN/"
(cd "$tree" && find usr lib -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)

package=$dest/berth_${version}_$arch.deb
dpkg-deb --root-owner-group -Zxz --build "$tree" "$package" >/dev/null
bytes=$(stat -c %s "$tree/usr/lib/berth/berth")
limit=$((17 * 1000 * 1000))
[ "$bytes" -lt "$limit" ] || { echo "deb.sh: the stripped programs have $bytes bytes, not less than $limit" >&2; exit 1; }
echo "deb: $package, $(stat -c %s "$package") bytes; the programs in it have $bytes bytes"
