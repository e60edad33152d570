package shell

// tables are all rows there are, grouped by what the programs are for. Parents stand before their subcommands.
func tables() []table {
	return []table{
		{rows: builtins()},
		{rows: wrappers()},
		{rows: interpreters()},
		{rows: viewers()},
		{rows: textTools()},
		{rows: fileTools()},
		{rows: archives()},
		{rows: gitItself()},
		{prefix: "git", rows: gitRows()},
		{rows: otherVCS()},
		{rows: buildTools()},
		{prefix: "go", flags: goBuildFlags, rows: goRows()},
		{rows: goHelpers()},
		{rows: rust()},
		{rows: javascript()},
		{rows: python()},
		{rows: otherLanguages()},
		{rows: checkers()},
		{rows: compilers()},
		{rows: netTools()},
		{rows: cloud()},
		{rows: databases()},
		{rows: crypto()},
		{rows: systemShow()},
		{rows: systemChange()},
		{rows: packagers()},
		{rows: editors()},
	}
}

// builtins are the commands of the shell itself.
func builtins() []row {
	return []row{
		{names: "echo", args: itself},
		{names: "printf", args: itself, check: checkPrintf},
		{names: "true false : pwd exit return break continue shift times caller logout", args: itself},
		{names: "test [", args: itself, check: checkEvaluated},
		{names: "type which", args: itself},
		{names: "help jobs wait fg bg dirs", args: itself, check: checkEvaluated},
		{names: "cd", flags: "-LPe@", check: checkCd},
		{names: "pushd popd", flags: "-n", check: checkCd},
		{names: "read", flags: "-ers -a= -d= -i= -n= -N= -p= -t= -u=", check: checkAssigns},
		{names: "mapfile readarray", flags: "-t -d= -n= -O= -s= -u= -c= -C=:script", check: checkAssigns},
		{names: "getopts", args: itself, check: checkAssigns},
		{names: "let", args: itself, check: checkEvaluated, does: MustAsk, why: "arithmetic that is not understood"},
		{names: "export readonly declare typeset local", flags: "-pxagArf -n:ask -i:ask -l:ask -u:ask", check: checkDeclare},
		{names: "unset", flags: "-vfn", check: checkUnset},
		{names: "set", args: itself, check: checkSet},
		{names: "shopt", flags: "-supqo", check: checkShopt},
		{names: "umask ulimit", args: itself},
		{names: "alias", flags: "-p", check: checkAlias},
		{names: "unalias", flags: "-a"},
		{names: "hash", flags: "-lrtd -p=:run"},
		{names: "enable", flags: "-aps -n:ask -f=:run -d:ask", does: MustAsk, why: "changes which builtins there are"},
		{names: "bind", does: Dangerous, args: itself, why: "binds keys to commands"},
		{names: "complete compopt", does: MustAsk, args: itself, why: "installs a completion"},
		{names: "compgen", flags: "-abcdefgjksuv -A= -W= -G= -P= -S= -X= -o= -C=:run -F=:run"},
		{names: "history", flags: "-d=:danger -c:danger -a:danger -n -r:danger -w:danger -p -s", does: Dangerous, why: "reads what was typed"},
		{names: "fc", does: Dangerous, args: itself, why: "runs earlier commands again"},
		{names: "disown suspend", does: MustAsk, args: itself, why: "changes jobs"},
		{names: "trap", flags: "-lp", check: checkTrap},
		{names: "eval", args: itself, check: checkEval, why: "runs its words"},
		{names: "source .", check: checkSource},
	}
}

// wrappers start another command; what they wrap is judged as well.
func wrappers() []row {
	power := "runs with other rights"
	return []row{
		{names: "command", args: command, flags: "-pvV", check: checkCommand},
		{names: "builtin", args: command, check: checkCommand},
		{names: "exec", args: command, flags: "-cl -a=", check: checkWrapper},
		{names: "env", args: command, flags: "-i,--ignore-environment -0,--null -v,--debug -u=,--unset= -C=,--chdir=:dir -S=,--split-string= --block-signal? --default-signal? --ignore-signal? --list-signal-handling", check: checkEnv},
		{names: "timeout gtimeout", args: command, skip: 1, flags: "-v --verbose --foreground -p,--preserve-status -k=,--kill-after= -s=,--signal= -f", check: checkWrapper},
		{names: "nice", args: command, flags: "-# -n=,--adjustment=", check: checkWrapper},
		{names: "ionice", args: command, flags: "-t -c=,--class= -n=,--classdata= -p=:danger", check: checkWrapper},
		{names: "chrt", args: command, skip: 1, flags: "-abdfior -v -m -T= -P= -D= -p:danger", check: checkWrapper},
		{names: "taskset", args: command, skip: 1, flags: "-a -c -p:danger", check: checkWrapper},
		{names: "nohup", args: command, does: Writes, why: "may write nohup.out", check: checkWrapper},
		{names: "setsid daemonize", args: command, does: MustAsk, why: "leaves the session", flags: "-cfw --wait --fork --ctty", check: checkWrapper},
		{names: "stdbuf unbuffer", args: command, flags: "-i=,--input= -o=,--output= -e=,--error= -p", check: checkWrapper},
		{names: "time", args: command, flags: "-apvq -f=,--format= -o=,--output=:write", check: checkWrapper},
		{names: "setarch linux32 linux64", args: command, flags: "-R -v", check: checkWrapper},
		{names: "caffeinate", args: command, flags: "-dimsu -t=", check: checkWrapper},
		{names: "faketime", args: command, skip: 1, flags: "-m -f", check: checkWrapper},
		{names: "ts", args: data, flags: "-ris"},
		{names: "chronic ifne mispipe", args: command, flags: "-nve", check: checkWrapper},
		{names: "catchsegv dumb-init tini", args: command, does: MustAsk, why: "starts another program", check: checkWrapper},
		{names: "xargs gxargs", args: command, flags: "-0,--null -t,--verbose -r,--no-run-if-empty -x,--exit -p,--interactive -o,--open-tty -n=,--max-args= -P=,--max-procs= -L=,--max-lines? -l? -s=,--max-chars= -d=,--delimiter= -E=,--eof? -e? -I= -i?,--replace? -a=,--arg-file=:read --process-slot-var= -J= -R= -S=", check: checkXargs},
		{names: "parallel rush", args: command, does: MustAsk, why: "makes commands from its input", flags: "-j=,--jobs= -0 -k --keep-order --bar --eta -n= -N= -I= --dry-run --will-cite -a=:read --results=:write -S=:danger --sshlogin=:danger", check: checkWrapper},
		{names: "watch entr", args: command, does: MustAsk, why: "runs a command again and again", flags: "-bcdeghptxwrsanz -n=,--interval= --differences? --color --no-title --exec", check: checkWrapper},
		{names: "flock lockf", args: command, does: Writes, skip: 1, why: "makes a lock file", flags: "-senuxoFv -w=,--timeout= -E= -c=:script --nonblock", check: checkFlock},
		{names: "script", does: Writes, flags: "-aefqB -c=,--command=:script -t? -T=:write -O=:write -I=:write -E= -m=", args: create, why: "records a session"},
		{names: "strace ltrace", args: command, does: MustAsk, why: "traces another program", flags: "-cCdfFhiqrtTvVxyYkwzZ -a= -b= -e= -E= -I= -n -o=,--output=:write -O= -p=:danger -P= -s= -S= -u=:danger -X= -D", check: checkWrapper},
		{names: "perf valgrind gdb lldb", args: command, does: MustAsk, why: "runs another program under control", flags: "-q -batch --batch --args -x=:run -ex=:run -p=:danger --tool= --leak-check? --log-file=:write", check: checkTracer},
		{names: "busybox toybox", args: command, flags: "", check: checkWrapper},
		{names: "sudo doas pkexec", args: command, does: Dangerous, why: power, flags: "-AbEeHiKklnPSsvV -u=,--user= -g=,--group= -h= -p=,--prompt= -C= -r= -t= -T= -U= -D= -R= --preserve-env? --login --stdin --non-interactive --shell --validate --list", check: checkPrivileged},
		{names: "su runuser", args: command, does: Dangerous, why: power, flags: "-lmpfP --login -c=,--command=:script -s=,--shell= -g= -G= -u= -w=", check: checkWrapperLoose},
		{names: "sg newgrp", does: Dangerous, args: itself, why: power},
		{names: "chroot", args: command, does: Dangerous, skip: 1, why: power, flags: "--userspec= --groups= --skip-chdir", check: checkWrapper},
		{names: "unshare nsenter setpriv capsh bwrap firejail systemd-run systemd-nspawn start-stop-daemon runcon cgexec prlimit", args: itself, does: Dangerous, why: power, check: checkAnyCommand},
		{names: "at batch", does: Dangerous, args: itself, why: "schedules a command", check: checkScheduled},
		{names: "crontab", does: Dangerous, args: itself, why: "the schedule of this user"},
		{names: "anacron atrm atq", does: Dangerous, args: itself, why: "the schedule of this user"},
		{names: "tmux screen zellij byobu abduco dtach", does: MustAsk, args: itself, why: "reaches other terminals", check: checkTerminal},
		{names: "dbus-run-session dbus-send gdbus busctl xdg-open open gio kde-open osascript", does: Dangerous, args: itself, why: "asks another program to act"},
		{names: "expect tclsh wish", does: MustAsk, args: code},
	}
}

// interpreters run code that the tables cannot read.
func interpreters() []row {
	return []row{
		{names: "sh bash dash zsh ksh mksh ash rbash yash", args: itself, check: checkShell},
		{names: "fish csh tcsh elvish nu xonsh pwsh powershell cmd", args: code},
		{names: "perl ruby irb", args: itself, check: checkInPlaceCode},
		{names: "node nodejs", args: itself, check: checkNode},
		{names: "deno bun", args: itself, check: checkScriptRunner},
		{names: "php lua luajit lua5.4 guile racket scala clojure groovy kotlin julia R Rscript octave elixir iex erl escript swift ghc runghc runhaskell ocaml sbcl clisp raku tsx ts-node jshell dart gnuplot maxima", args: itself, check: checkScriptRunner},
		{names: "java javaw", args: itself, check: checkScriptRunner},
		{names: "bc dc", flags: "-lqsw -e= -f=:read --mathlib --quiet", args: read},
		{names: "awk gawk mawk nawk original-awk", flags: "-F=,--field-separator= -v=,--assign= -f=,--file= -e=,--source= -E=,--exec= -i=,--include=:run -l=,--load=:run -o?:mod -p?:mod -d?:mod -b -c -n -N -O -P -r -S,--sandbox -s -t -V -W=:ask --posix --re-interval --csv -k", check: checkAwk},
		{names: "sed gsed", flags: "-n,--quiet,--silent -E,-r,--regexp-extended -s,--separate -u,--unbuffered -z,--null-data --posix --debug --sandbox --follow-symlinks -b,--binary -l=,--line-length= -e=,--expression= -f=,--file= -i?,--in-place?:inplace", check: checkSed},
	}
}
