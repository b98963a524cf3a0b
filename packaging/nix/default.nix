# SPDX-License-Identifier: GPL-2.0-only
#
# nix-build packaging/nix: the command line and the daemon, and with a kernel, pkgs.linux say, the module for it,
# which NixOS takes in boot.extraModulePackages. Parsed by nix-instantiate; nothing of it was ever built. On NixOS
# the initramfs is made otherwise than boot/ knows: a cache below / is not for it.
{ pkgs ? import <nixpkgs> { }
, kernel ? null
}:

let
  lib = pkgs.lib;
  changelog = builtins.readFile ../../debian/changelog;
  common = {
    version = builtins.head (builtins.match "xpcache \\(([^)]*)\\).*" (builtins.head (lib.splitString "\n" changelog)));
    src = lib.cleanSourceWith {
      src = ../..;
      filter = path: type: lib.cleanSourceFilter path type && baseNameOf path != "build";
    };
    meta = {
      description = "Crash-consistent block cache on a fast device, before a slow one";
      license = lib.licenses.gpl2Only;
      platforms = [ "x86_64-linux" ];
    };
  };
in
if kernel == null then
  pkgs.stdenv.mkDerivation (common // {
    pname = "xpcache";
    nativeBuildInputs = [ pkgs.pkg-config ];
    buildInputs = with pkgs; [ lvm2 util-linux json_c xxHash liburing kmod libnbd libmicrohttpd systemd libcap_ng ];
    # -Werror is for those who write it: a newer compiler must not end a build.
    makeFlags = [ "PREFIX=$(out)" "CFLAGS=-Wno-error" "INITRAMFS=dracut" ];
    buildFlags = [ "programs" ];
    # Those that are loaded when they are needed.
    NIX_LDFLAGS = "-rpath ${lib.makeLibraryPath [ pkgs.kmod pkgs.libnbd ]}";
    # Nothing links with them, so the fixup would drop these paths again.
    dontPatchELF = true;
    enableParallelBuilding = true;
  })
else
  pkgs.stdenv.mkDerivation (common // {
    pname = "xpcache-module-${kernel.version}";
    nativeBuildInputs = kernel.moduleBuildDependencies;
    makeFlags = [
      "KVER=${kernel.modDirVersion}"
      "KDIR=${kernel.dev}/lib/modules/${kernel.modDirVersion}/build"
    ];
    buildFlags = [ "module" ];
    installTargets = [ "module-install" ];
    installFlags = [ "DESTDIR=$(out)" ];
  })
