#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# For builds without the network that CMake would download from: unpacks Debian 13's source packages of Highway,
# Random123 and fmt into build/sources, and prints the options of CMake that name the folders, one per line.
source "$(dirname "$0")/common.sh"
folder=$PWD/build/sources
if [ ! -e "$folder/.complete" ]; then
  command -v apt-get >/dev/null || die "source packages come with apt-get"
  rm -rf "$folder"
  mkdir -p "$folder"/apt/{lists,cache/archives}/partial
  mirror=$(grep -hoP '^(URIs:|deb(-src)?( \[.*?\])?) *\Khttps?://\S+' /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null | head -n 1 || true)
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$folder/apt/sources.list"
  apt=(apt-get -qq -o APT::Sandbox::User=root -o "Dir::Etc::SourceList=$folder/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt/cache")
  quietly "${apt[@]}" update
  # Debian's own changes (.debian.tar.xz) are not needed; apt checks the hashes of what it downloads.
  (cd "$folder" && "${apt[@]}" source --download-only highway librandom123 fmtlib) >"$folder/log" 2>&1 || true
  for name in highway random123 fmt; do
    mkdir "$folder/$name"
    tar -x -C "$folder/$name" --strip-components=1 -f "$(ls "$folder"/*"$name"*.orig.tar.*)" 2>>"$folder/log" ||
      die "Debian's sources of $name could not be had; see $folder/log"
  done
  touch "$folder/.complete"
fi
for name in highway random123 fmt; do echo "-DFETCHCONTENT_SOURCE_DIR_${name^^}=$folder/$name"; done
