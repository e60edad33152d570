package shell

// viewers show files, names or facts about them.
func viewers() []row {
	return []row{
		{names: "cat gcat", args: read, flags: "-AbeEnstTuvl --number --show-all --number-nonblank --squeeze-blank --show-ends --show-tabs --show-nonprinting"},
		{names: "tac", args: read, flags: "-br -s=,--separator= --before --regex"},
		{names: "nl", args: read, flags: "-p -b=,--body-numbering= -d=,--section-delimiter= -f=,--footer-numbering= -h=,--header-numbering= -i=,--line-increment= -l=,--join-blank-lines= -n=,--number-format= -s=,--number-separator= -v=,--starting-line-number= -w=,--number-width= --no-renumber"},
		{names: "bat batcat", args: read, flags: "-pnAPufS --plain --number --show-all -l=,--language= --style= --color= --paging= --decorations= -r=,--line-range= -H= --theme= --wrap= --tabs= --pager=:run --list-languages --list-themes --no-paging -d --diff --diff-context= --terminal-width= --italic-text= -m= --file-name="},
		{names: "head", args: read, flags: "-# -qvz -n=,--lines= -c=,--bytes= --quiet --silent --verbose --zero-terminated"},
		{names: "tail", args: read, flags: "-# -fFqvzr -n=,--lines= -c=,--bytes= -s=,--sleep-interval= --pid= --follow? --retry --quiet --silent --verbose --zero-terminated --max-unchanged-stats= -b="},
		{names: "less more most pg", args: read, flags: "-aAbBcCdeEfFgGiIJKLmMnNqQrRsSuUVwWXz -# -o=,-O=:write -p= -P= -t= -T= -x= -y= -k=:run -D= --no-init --quit-if-one-screen --RAW-CONTROL-CHARS --chop-long-lines --LINE-NUMBERS", check: checkPagerStart},
		{names: "ls dir vdir gls", args: list, flags: "-1aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ -I=,--ignore= -w=,--width= -T= --all --almost-all --author --escape --block-size= --ignore-backups --color? --directory --dired --classify? --file-type --format= --full-time --group-directories-first --no-group --human-readable --si --dereference-command-line --hide= --hyperlink? --indicator-style= --inode --kibibytes --dereference --numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name --quoting-style= --reverse --recursive --size --sort= --time= --time-style= --tabsize= --context --zero -O -@ -e -W -%", check: checkLists},
		{names: "exa eza lsd", args: list, flags: "-1aAbBdDfFgGhHiIlLmnoOrRsStTuUxXZ -@ --all --long --tree --level= --git --git-ignore --icons? --header --color? --colour? --sort= --group-directories-first --only-dirs --only-files --recurse --oneline --grid --time-style= --no-user --no-time --no-permissions --no-icons -I= --ignore-glob=", check: checkLists},
		{names: "tree", args: list, flags: "-acdDfFghiIJlnNpqQrRsStuUvxXC -L= -P= -I= -H= -T= -o=:write --noreport --dirsfirst --filesfirst --charset= --filelimit= --gitignore --gitfile=:read --matchdirs --prune --du --si --sort= --timefmt= --inodes --device --metafirst --ignore-case --fromfile --info --infofile=:read --hintro= --houtro= --nolinks --hyperlink"},
		{names: "file", args: list, flags: "-bcdEhiklLNnprsSvzZ0 -C:mod -F=,--separator= -m=,--magic-file=:read -f=,--files-from=:read -e= -P= --brief --mime --mime-type --mime-encoding --dereference --no-dereference --exclude= --extension --keep-going --uncompress --raw --print0 --apple"},
		{names: "stat gstat", args: list, flags: "-Lft -c=,--format= --printf= --file-system --terse --dereference --cached= -x -s -n -q"},
		{names: "du", args: list, flags: "-0aAbcDHhklLmPsSx -d=,--max-depth= -B=,--block-size= -t=,--threshold= -X=,--exclude-from=:read --exclude= --files0-from=:read --apparent-size --summarize --total --human-readable --si --all --bytes --time? --time-style= --inodes --one-file-system --separate-dirs --null --dereference --count-links -I= -g -n"},
		{names: "df", args: list, flags: "-aBhHiklPTv -t=,--type= -x=,--exclude-type= -B=,--block-size= --all --human-readable --si --inodes --local --no-sync --sync --output? --portability --print-type --total -m -g"},
		{names: "ncdu dust duf", args: list, flags: "-xqr0 -d= --color= -o=:write -f=:read --exclude= --json --all"},
		{names: "realpath readlink", args: list, flags: "-efmLPqszn --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --strip --zero --relative-to= --relative-base= --no-symlinks --logical --physical -v"},
		{names: "basename", args: data, flags: "-az -s=,--suffix= --multiple --zero"},
		{names: "dirname", args: data, flags: "-z --zero"},
		{names: "pathchk namei", args: list, flags: "-pPlmoxvn --portability"},
		{names: "find gfind", args: itself, check: checkFind, oneDash: true, flags: findTests},
		{names: "fd fdfind", args: data, check: checkFd, flags: "-HIuUsigaplL0F1qj -# --hidden --no-ignore --no-ignore-vcs --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --list-details --follow --full-path --print0 -d=,--max-depth= --min-depth= --exact-depth= -t=,--type= -e=,--extension= -E=,--exclude= --ignore-file=:read -S=,--size= --changed-within= --changed-before= -o=,--owner= -c=,--color= -j=,--threads= --max-results= --base-directory=:dir --search-path= --strip-cwd-prefix? --one-file-system --prune --quiet --no-follow --path-separator= --format= -x:run -X:run --exec:run --exec-batch:run --batch-size= --no-require-git"},
		{names: "locate mlocate plocate", args: data, flags: "-0AbceilLpqrSw -d=:read -n= --regex --basename --count --existing --ignore-case"},
		{names: "whereis", args: itself},
		{names: "tput", args: data, flags: "-T= -V -S"},
		{names: "clear", flags: "-xV -T="},
		{names: "date gdate", args: data, flags: "-u,--utc,--universal -R,--rfc-email -I?,--iso-8601? -d=,--date= -r=,--reference= -f=,--file=:read --rfc-3339= -s=,--set=:danger --debug --resolution -j -v= -n", check: checkDate},
		{names: "cal ncal", args: data, flags: "-# -1378hjmsywMbC -A= -B= -d= -H= -n= -p -N"},
		{names: "seq jot", args: data, flags: "-# -w -f=,--format= -s=,--separator= --equal-width -t="},
		{names: "expr factor yes primes arch logname tty nproc getconf groups id whoami users who w last lastlog lastb locale localectl uptime sleep numfmt units uuidgen mcookie", args: itself},
		{names: "printenv", args: itself, check: checkPrintenv},
		{names: "uname", flags: "-asnrvmpio --all --kernel-name --nodename --kernel-release --machine --operating-system --processor --hardware-platform --kernel-version"},
		{names: "man apropos whatis info tldr", args: data, flags: "-# -afkKwWiIcdDtTuV -s=,-S=,--sections= -l=:read -L= -m= -M=:ask -P=,--pager=:run -H?,--html?:run -C=,--config-file=:run -p=:run -E= -r= -R= -T? -X? -e= --where --all --whatis --apropos --locale= --no-hyphenation --no-justification"},
		{names: "hexdump hd od", args: read, flags: "-# -bcCdovxabcdfhilosx -A=,--address-radix= -t=,--format= -N=,--read-bytes= -n= -e= -f=:read -j=,--skip-bytes= -s= -S= -w?,--width? --endian= --traditional --canonical --length= --skip= -L"},
		{names: "xxd", args: convert, flags: "-abeEipPuv -c=,-cols= -g=,-groupsize= -l=,-len= -n= -o= -s=,-seek= -R= -d -r"},
		{names: "hexyl", args: read, flags: "-n= -s= -c= -l= --length= --skip= --color= --border= --plain -p -v"},
		{names: "strings", args: read, flags: "-# -adfwo -n=,--bytes= -t=,--radix= -e=,--encoding= -T= -s= --all --print-file-name --data"},
		{names: "nm size objdump readelf c++filt addr2line dwarfdump otool", args: read, flags: "-# -aAbBcCdDeEfFgGhHiIlLMnNopPqQrRsStTuUvVwWxXzZ -j= -m= -b= --defined-only --undefined-only --demangle? --dynamic --extern-only --disassemble? --disassemble-all --source --all-headers --headers --sections --symbols --section= --no-show-raw-insn --syms --reloc --file-headers --private-headers --line-numbers --wide --segments --notes --dyn-syms --size-sort --numeric-sort --reverse-sort --print-size --radix= --format= --start-address= --stop-address= --architecture= --exe= --functions --inlines --plugin=:run"},
		{names: "ldd", does: MustAsk, args: read, flags: "-vurd", why: "may run the program it looks at"},
		{names: "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum xxhsum b3sum crc32", args: read, flags: "-# -btcrswqz -a=,--algorithm= -l=,--length= --check --tag --binary --text --quiet --status --strict --warn --ignore-missing --zero --untagged --raw --base64 -U -0 -p -n"},
		{names: "base64 base32 basenc gbase64", args: read, flags: "-dDi -w=,--wrap= --decode --ignore-garbage --base64 --base64url --base32 --base32hex --base16 --z85 -i=:read -o=:write -b="},
		{names: "exiftool mediainfo identify ffprobe pdfinfo pdffonts", does: MustAsk, args: read, flags: "-a -v -s -json -j --json -show_format -show_streams -format="},
		{names: "tokei cloc scc loc", args: read, flags: "-fC -e=,--exclude= -t=,--type= -s=,--sort= -o=,--output= --files --by-file --by-file-by-lang --exclude-dir= --exclude-lang= --include-lang= --exclude-ext= --include-ext= --not-match-d= --not-match-f= --json --yaml --csv --md --xml --quiet --hide-rate --vcs= --git --diff --no-cocomo --wide -w -a --by-percent= --sum-one --report-file=:write --out=:write --config=:ask"},
	}
}

const findTests = `-name= -iname= -path= -ipath= -wholename= -iwholename= -regex= -iregex= -regextype= -lname= -ilname= -type= -xtype=
	-size= -empty -newer= -anewer= -cnewer= -newermt= -newerat= -newerct= -newermm= -mtime= -mmin= -atime= -amin= -ctime= -cmin= -used= -user= -group=
	-uid= -gid= -nouser -nogroup -perm= -links= -inum= -samefile= -fstype= -context= -readable -writable -executable -true -false
	-maxdepth= -mindepth= -depth -d -mount -xdev -follow -daystart -noleaf -warn -nowarn -ignore_readdir_race -noignore_readdir_race
	-print -print0 -printf= -ls -prune -quit -not -a -and -o -or -help -version
	-fprint=:write -fprint0=:write -fls=:write -files0-from=:read`

const grepFlags = `-# -EFGPvwxcLloqsbHhnTuUZziyaIrR -e=,--regexp=:pattern -f=,--file=:patterns -m=,--max-count= -A=,--after-context= -B=,--before-context= -C=,--context=
	-d=,--directories= -D=,--devices= --color? --colour? --include= --exclude= --exclude-dir= --exclude-from=:read --label= --binary-files= --basic-regexp --extended-regexp
	--fixed-strings --perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --files-without-match --files-with-matches
	--only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --line-number --initial-tab --unix-byte-offsets --null --null-data
	--text --recursive:deep --dereference-recursive:deep --line-buffered --group-separator= --no-group-separator --binary -r:deep -R:deep`

const rgFlags = `-# -aFiIlLnNopPqsSuUvwxzc0.HhV -e=,--regexp=:pattern -f=,--file=:patterns -A=,--after-context= -B=,--before-context= -C=,--context= -g=,--glob= --iglob= -t=,--type= -T=,--type-not=
	-m=,--max-count= -M=,--max-columns= -j=,--threads= -d=,--max-depth= -E=,--encoding= -r=,--replace= --color= --colors= --sort= --sortr= --type-add= --type-clear= --path-separator=
	--context-separator= --field-context-separator= --field-match-separator= --max-filesize= --ignore-file=:read --dfa-size-limit= --regex-size-limit= --engine= --hyperlink-format= --generate=
	--files:pattern --type-list:pattern --files-with-matches --files-without-match --count --count-matches --fixed-strings --ignore-case --case-sensitive --smart-case --invert-match --word-regexp
	--line-regexp --line-number --no-line-number --with-filename --no-filename --heading --no-heading --hidden --no-hidden --no-ignore --no-ignore-vcs --no-ignore-parent --no-ignore-global --no-ignore-dot
	--no-ignore-exclude --no-ignore-files --ignore --follow --no-follow --glob-case-insensitive --null --null-data --only-matching --passthru --passthrough --pcre2 --multiline --multiline-dotall
	--crlf --stats --json --quiet --vimgrep --pretty -p --column --no-column --byte-offset -b --trim --text --binary --unrestricted --one-file-system --no-config --no-messages --max-columns-preview
	--line-buffered --block-buffered --mmap --no-mmap --debug --trace --auto-hybrid-regex --no-unicode --stop-on-nonmatch --no-require-git --include-zero --search-zip --no-pre
	--pre=:run --pre-glob= --hostname-bin=:run`

// textTools filter text.
func textTools() []row {
	return []row{
		{names: "grep egrep fgrep ggrep zgrep zegrep zfgrep bzgrep xzgrep", args: matching, flags: grepFlags, check: checkGrepLists},
		{names: "rg ripgrep", args: matching, deep: true, flags: rgFlags, check: checkGrepLists},
		{names: "ag ack pt ugrep", args: matching, deep: true, flags: "-# -aciIlLnovwWqQsSuUfFgGhHrR0 -A= -B= -C= -m= -G= -g= -t= --color --nocolor --hidden --ignore= --ignore-dir= --type= --depth= --vimgrep --literal --files-with-matches --count --column --nogroup --noheading --heading --pager=:run --filter=:run --ignore-case --smart-case --case-sensitive"},
		{names: "sort gsort", args: read, flags: "-bdfgiMhnRrVzucCms -k=,--key= -t=,--field-separator= -S=,--buffer-size= --parallel= --batch-size= --sort= --random-source=:read -T=,--temporary-directory=:write -o=,--output=:write --files0-from=:read --compress-program=:run --numeric-sort --reverse --unique --stable --merge --check? --ignore-case --ignore-leading-blanks --dictionary-order --general-numeric-sort --human-numeric-sort --month-sort --version-sort --random-sort --zero-terminated --debug"},
		{names: "uniq guniq", args: convert, flags: "-# -cdDiuz -f=,--skip-fields= -s=,--skip-chars= -w=,--check-chars= --count --repeated --all-repeated? --unique --ignore-case --zero-terminated --group?"},
		{names: "cut", args: read, flags: "-nsz -b=,--bytes= -c=,--characters= -d=,--delimiter= -f=,--fields= --complement --only-delimited --output-delimiter= --zero-terminated"},
		{names: "tr", args: data, flags: "-cCdst --complement --delete --squeeze-repeats --truncate-set1"},
		{names: "wc", args: read, flags: "-clLmw --bytes --chars --lines --max-line-length --words --files0-from=:read --total="},
		{names: "paste", args: read, flags: "-sz -d=,--delimiters= --serial --zero-terminated"},
		{names: "join", args: read, flags: "-# -iz -a= -e= -j= -o= -t= -v= -1= -2= --check-order --nocheck-order --header --ignore-case"},
		{names: "comm", args: read, flags: "-123iz --check-order --nocheck-order --output-delimiter= --total --zero-terminated"},
		{names: "diff gdiff colordiff", args: read, flags: "-# -abBcdeEfHilnNpqrstTuvwyZ -U=,--unified? -C=,--context? -D= -F= -I= -L=,--label= -S= -W=,--width= -x=,--exclude= -X=,--exclude-from=:read --color? --palette= --brief --recursive --new-file --unidirectional-new-file --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-tab-expansion --ignore-trailing-space --ignore-matching-lines= --text --side-by-side --suppress-common-lines --strip-trailing-cr --minimal --speed-large-files --normal --ed --rcs --report-identical-files --show-c-function --show-function-line= --left-column --expand-tabs --initial-tab --from-file=:read --to-file=:read --starting-file= --line-format= --no-dereference --horizon-lines= --tabsize="},
		{names: "diff3 sdiff", args: read, flags: "-AaeEimTxX3bBdHilstw -L= -o=,--output=:write --diff-program=:run -I= -W= --merge"},
		{names: "wdiff dwdiff delta difft icdiff", args: read, flags: "-# -123ailnpst -c --color= --side-by-side --line-numbers --paging= --display= --context= --no-deleted --no-inserted --no-common --statistics"},
		{names: "cmp", args: read, flags: "-bcls -i=,--ignore-initial= -n=,--bytes= --print-bytes --quiet --silent --verbose"},
		{names: "rev fold fmt pr expand unexpand", args: read, flags: "-# -aAbcdefFimnrsStTuvwJ -w=,--width= -t=,--tabs= -p= -g= -l= -h= -o= -s --spaces --bytes --initial --all --first-only --tagged-paragraph --split-only --uniform-spacing --prefix= --goal= --header= --columns= --number-lines"},
		{names: "column", args: read, flags: "-tnexJdLr -s=,--separator= -o=,--output-separator= -c=,--output-width= -N=,--table-columns= -n= -H= -O= -R= -T= -E= -W= --table --json --fillrows --tree= --tree-id= --tree-parent= --table-right= --table-hide= --table-noheadings"},
		{names: "shuf gshuf", args: read, flags: "-ezr -i=,--input-range= -n=,--head-count= -o=,--output=:write --random-source=:read --echo --repeat --zero-terminated"},
		{names: "tsort look iconv", args: read, flags: "-cls -f=,--from-code= -t=,--to-code= -o=,--output=:write --list --silent --verbose --byte-subst= --unicode-subst= -dfb"},
		{names: "dos2unix unix2dos mac2unix", does: Writes, args: create, flags: "-bfikqsSel -c= -n --keepdate --force --quiet"},
		{names: "split gsplit", does: Writes, args: data, flags: "-# -dxez -a=,--suffix-length= -b=,--bytes= -C=,--line-bytes= -l=,--lines= -n=,--number= -t=,--separator= --additional-suffix= --numeric-suffixes? --hex-suffixes? --elide-empty-files --unbuffered --verbose --filter=:run", check: checkSplit, why: "writes pieces"},
		{names: "csplit gcsplit", does: Writes, args: data, flags: "-ksqz -b=,--suffix-format= -f=,--prefix=:write -n=,--digits= --keep-files --quiet --elide-empty-files --suppress-matched", why: "writes pieces"},
		{names: "tee", does: ReadOnly, args: create, flags: "-aip --append --ignore-interrupts --output-error?"},
		{names: "sponge", does: ReadOnly, args: create, flags: "-a"},
		{names: "pee", does: Dangerous, args: itself, why: "runs its words as commands"},
		{names: "vipe vidir", does: Dangerous, args: itself, why: "starts an editor"},
		{names: "jq gojq jaq", args: matching, flags: "-# -cnrRsSeaCMjh0 --compact-output --null-input --raw-input --raw-output --raw-output0 --join-output --slurp --sort-keys --ascii-output --color-output --monochrome-output --tab --indent= --unbuffered --stream --stream-errors --seq --exit-status -f=,--from-file=:patterns -L=:ask --args --jsonargs --arg= --argjson= --slurpfile= --rawfile= --argfile= --build-configuration --stdin", check: checkJq},
		{names: "yq", args: matching, flags: "-# -cnrRsSeCMjPy -o=,--output-format= -p=,--input-format= -I=,--indent= -i,--inplace,--in-place:inplace --raw-output --prettyPrint --null-input --no-colors --colors --exit-status --from-file=:patterns -s=,--split-exp=:mod -N --no-doc --unwrapScalar? --yaml-output -y -Y", check: checkYq},
		{names: "xmllint", args: read, flags: "--format --noout --xpath= --pretty= --valid --schema=:read --relaxng=:read --html --noblanks --nonet --recover --output=,-o=:write --shell:ask --c14n --encode="},
		{names: "xsltproc", does: MustAsk, args: read, flags: "-o=:write --output=:write"},
		{names: "pandoc", does: MustAsk, args: read, flags: "-s -f= -t= -o=:write --from= --to= --output=:write --standalone --toc --filter=:run -F=:run --lua-filter=:run --pdf-engine=:run --extract-media=:write"},
		{names: "csvtool mlr csvcut csvlook csvstat csvgrep csvsort xsv qsv datamash", args: itself, does: MustAsk, why: "its expressions are not known here"},
		{names: "asciidoctor mdcat glow", args: read, does: Writes, flags: "-p -s= -w= -b= -o=:write -r=:run"},
		{names: "fzf sk peco", does: MustAsk, args: itself, why: "its previews run commands"},
		{names: "envsubst gettext ngettext", args: data},
		{names: "zcat gzcat zless zmore bzcat xzcat lzcat zstdcat lz4cat", args: read, flags: "-# -dfktTvqc"},
		{names: "zdiff zcmp bzdiff xzdiff", args: read, flags: "-# -abBcdiuqw"},
	}
}
