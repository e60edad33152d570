package shell

// fileTools make, change, move and delete files.
func fileTools() []row {
	return []row{
		{names: "touch", does: Writes, args: create, flags: "-acmh -d=,--date= -r=,--reference=:read -t= --time= --no-create --no-dereference"},
		{names: "mkdir", does: Writes, args: create, flags: "-pvZ -m=,--mode= --parents --verbose"},
		{names: "mknod", does: Dangerous, args: itself, why: "makes a device"},
		{names: "mkfifo", does: Writes, args: create, flags: "-Z -m=,--mode="},
		{names: "rmdir", does: Writes, args: remove, flags: "-pv --parents --verbose --ignore-fail-on-non-empty"},
		{names: "rm unlink grm", does: Writes, args: remove, flags: "-dfiIvW --force --interactive? --verbose --dir --one-file-system --preserve-root? --no-preserve-root:danger -r,-R,--recursive:deep", why: "deletes files"},
		{names: "trash trash-put", does: MustAsk, args: remove, flags: "-rf"},
		{names: "shred srm wipe", does: Dangerous, args: remove, flags: "-fuvxz -n= -s= --remove? --iterations= --size= --zero", why: "destroys files for good"},
		{names: "cp gcp", does: Writes, args: copying, flags: "-abdfHilLnpPsTuvxZ -r:deep -R:deep -S=,--suffix= -t=,--target-directory=:target --archive:deep --recursive:deep --backup? --force --interactive --link --dereference --no-dereference --no-clobber --preserve? --no-preserve= --parents --reflink? --sparse= --symbolic-link --strip-trailing-slashes --no-target-directory --update? --verbose --one-file-system --attributes-only --copy-contents --remove-destination --debug -c -X", check: checkArchiveDeep},
		{names: "mv gmv", does: Writes, args: moving, flags: "-bfinTuvZ -S=,--suffix= -t=,--target-directory=:target --backup? --force --interactive --no-clobber --strip-trailing-slashes --no-target-directory --update? --verbose --exchange --debug"},
		{names: "ln gln", does: Writes, args: itself, check: checkLink, flags: "-bdfFiLnPrsTv -S= -t=,--target-directory=:target --symbolic --force --relative --no-dereference --verbose --backup? --logical --physical --no-target-directory --interactive --suffix="},
		{names: "link", does: Writes, args: copying},
		{names: "install ginstall", does: Writes, args: data, flags: "-bcCDpTvZ -m=,--mode= -t=,--target-directory=:target -d,--directory -s:run -o=:danger -g=:danger -S= --owner=:danger --group=:danger --strip-program=:run --compare --preserve-timestamps --verbose --backup? --no-target-directory", check: checkInstall},
		{names: "chmod gchmod", does: Writes, args: itself, check: checkMode},
		{names: "chown chgrp setfacl chattr chcon setfattr setcap lchown", does: Dangerous, args: itself, why: "changes who owns or may use files"},
		{names: "getfacl lsattr getfattr getcap", args: list, flags: "-acdeEnpRstvl"},
		{names: "truncate", does: Writes, args: remove, flags: "-co -s=,--size= -r=,--reference=:read --no-create --io-blocks"},
		{names: "fallocate", does: Writes, args: create, flags: "-cdnpvzx -l=,--length= -o=,--offset="},
		{names: "mktemp", does: Writes, args: data, flags: "-duqt -p=,--tmpdir?:write --suffix= --directory --dry-run --quiet", check: checkMktemp},
		{names: "dd gdd", does: ReadOnly, args: itself, check: checkDd},
		{names: "sync", args: list, flags: "-df --data --file-system"},
		{names: "rename prename mmv rename.ul", does: MustAsk, args: itself, why: "its expression may be code"},
		{names: "rsync", does: Writes, args: itself, check: checkRsync},
		{names: "patch", does: Writes, args: itself, check: checkPatch},
		{names: "ed ex", does: MustAsk, args: itself, why: "an editor runs commands", check: checkEditor},
		{names: "ctags etags gtags cscope", does: Writes, args: read, flags: "-RaeuxbqkL -f=:write -o=:write --recurse? --exclude= --languages= --fields= --extras= --kinds-all= --options=:run --sort="},
		{names: "logrotate updatedb mandb ldconfig depmod update-alternatives update-ca-certificates update-grub", does: Dangerous, args: itself, why: "changes the system"},
		{names: "direnv", does: Dangerous, args: itself, why: "runs files of the workspace by itself"},
		{names: "stow", does: Dangerous, args: itself, why: "links files outside"},
	}
}

// archives pack and unpack.
func archives() []row {
	return []row{
		{names: "tar gtar bsdtar", args: data, prepare: oldStyleTar, check: checkTar, flags: "-ctxruAvzjJZapkmOSWhlUwGBinsRd -f=,--file= -C=,--directory= -T=,--files-from=:read -X=,--exclude-from=:read -b= -N= -H= -L= -V= -K= -g=:write -I=,--use-compress-program=:run -F=,--info-script=:run -P,--absolute-names:danger --to-command=:run --checkpoint? --checkpoint-action=:run --new-volume-script=:run --rsh-command=:run --rmt-command=:run --remove-files:danger --unlink-first --recursive-unlink:danger --exclude= --exclude-vcs --exclude-vcs-ignores --strip-components= --transform=,--xform= --list --extract --get --create --append --update --delete:mod --diff --compare --verbose --gzip --bzip2 --xz --zstd --lzma --lzip --auto-compress --keep-old-files --overwrite --skip-old-files --no-same-owner --no-same-permissions --preserve-permissions --same-permissions --same-owner --owner= --group= --mode= --mtime= --sort= --format= --numeric-owner --to-stdout --totals --wildcards --no-wildcards --anchored --no-recursion --one-file-system --dereference --hard-dereference --one-top-level? --warning= --ignore-failed-read --null --verbatim-files-from --keep-newer-files --touch --index-file=:write --show-transformed-names --full-time --utc --newer= --acls --xattrs --selinux --pax-option= --posix --sparse --concatenate --catenate --volno-file=:write --multi-volume --level="},
		{names: "zip", does: Writes, args: itself, check: checkZip},
		{names: "unzip", args: itself, check: checkUnzip},
		{names: "zipinfo", args: read, flags: "-# -12smlvhtzCMOT"},
		{names: "gzip pigz bzip2 pbzip2 lbzip2 xz lzma zstd lz4 lzip brotli compress gunzip bunzip2 unxz unlzma unzstd unlz4 uncompress unpigz", args: itself, check: checkCompress},
		{names: "7z 7za 7zr", does: Writes, args: itself, check: checkSevenZip},
		{names: "rar unrar unar lha arj cabextract cpio pax shar uudecode uuencode", does: MustAsk, args: itself, why: "may write anywhere", check: checkNamedOutside},
		{names: "ar", does: Writes, args: itself, check: checkAr},
		{names: "lsar lzless", args: read, flags: "-lj"},
	}
}
