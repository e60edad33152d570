package shell

// gitItself is git with the options that stand before its verbs.
func gitItself() []row {
	return []row{{
		names: "git", args: subcommand, bare: verdict(ReadOnly),
		flags: "-C=:dir -P,--no-pager --no-optional-locks --no-replace-objects --no-lazy-fetch --no-advice --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --bare --version -v --help -h --html-path --man-path --info-path --list-cmds= --attr-source= --namespace= --super-prefix= -c=:gitconfig --config-env=:run --exec-path?:run --git-dir=:gitdir --work-tree=:gitdir -p,--paginate:run",
	}}
}

const (
	gitDiffFlags = `-# -abBcCdDhilmMnpPqrRsStuUvwWzy --cc --patch --no-patch --raw --stat? --numstat --shortstat --dirstat? --summary --name-only --name-status --check --color? --no-color --color-moved? --color-words?
	--word-diff? --word-diff-regex= -U=,--unified? -G= -S= -O=:read -l= -I= --ignore-matching-lines= --inter-hunk-context= --diff-filter= --diff-algorithm= --minimal --patience --histogram --anchored= --submodule? --full-index --binary --abbrev?
	--no-abbrev --find-renames? --find-copies? --find-copies-harder --no-renames --rename-empty --no-rename-empty --break-rewrites? --irreversible-delete --pickaxe-all --pickaxe-regex --relative? --no-relative --text --ignore-cr-at-eol
	--ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --function-context --exit-code --quiet --no-ext-diff --no-textconv --ignore-submodules? --src-prefix= --dst-prefix= --no-prefix --default-prefix
	--line-prefix= --ita-invisible-in-index --ws-error-highlight= --patch-with-stat --patch-with-raw --compact-summary --indent-heuristic --no-indent-heuristic --cached --staged --merge-base --no-index --combined-all-paths --diff-merges= --no-diff-merges --remerge-diff --dd
	--output=:write --ext-diff:run --textconv:run --base --ours --theirs --skip-to= --rotate-to= --max-depth=`
	gitLogFlags = gitDiffFlags + ` --oneline --graph --no-graph --all --branches? --tags? --remotes? --glob= --exclude= --exclude-hidden= --reflog -g --walk-reflogs --merges --no-merges --min-parents= --max-parents= --first-parent --exclude-first-parent-only
	-n=,--max-count= --skip= --since= --after= --until= --before= --since-as-filter= --author= --committer= --grep= --grep-reflog= --all-match --invert-grep -i --regexp-ignore-case -E --extended-regexp -F --fixed-strings --perl-regexp --basic-regexp --remove-empty
	--pretty? --format= --abbrev-commit --no-abbrev-commit --encoding= --expand-tabs? --no-expand-tabs --notes? --no-notes --show-notes? --show-signature:ask --date= --relative-date --parents --children --left-right --left-only --right-only --cherry --cherry-mark --cherry-pick --boundary
	--simplify-by-decoration --simplify-merges --full-history --dense --sparse --ancestry-path? --topo-order --date-order --author-date-order --reverse --follow --decorate? --no-decorate --decorate-refs= --decorate-refs-exclude= --clear-decorations --source --mailmap --no-mailmap --use-mailmap
	--log-size -L= --stdin --no-walk? --do-walk --bisect --in-commit-order --objects --objects-edge --unpacked --filter= --no-filter --missing= --exclude-promisor-objects --show-pulls --ignore-missing --single-worktree --not --count --timestamp --header --disk-usage? --no-object-names --object-names --show-linear-break? --full-diff --no-commit-header --commit-header --alternate-refs --default=`
)

// gitRows are the verbs of git.
func gitRows() []row {
	discards := "discards work"
	settings := "changes settings of the repository"
	return []row{
		{names: "log whatchanged", args: data, flags: gitLogFlags, check: checkGitShow},
		{names: "show", args: data, flags: gitLogFlags, check: checkGitShow},
		{names: "diff", args: data, flags: gitDiffFlags, check: checkGitDiff},
		{names: "diff-tree diff-files diff-index range-diff", args: data, flags: gitLogFlags + " --root --no-commit-id -t -r -m -c --stdin --creation-factor= --left-only --right-only --dual-color"},
		{names: "rev-list", args: data, flags: gitLogFlags},
		{names: "shortlog", args: data, flags: gitLogFlags + " -e --numbered --summary --email --group= -w?"},
		{names: "status", flags: "-sbvuz --short --branch --show-stash --porcelain? --long --verbose -u?,--untracked-files? --ignore-submodules? --ignored? --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?"},
		{names: "blame annotate", args: data, flags: "-# -bcefhklnpstwC -L= -M? -C? -S=:read --abbrev= --contents=:read --date= --incremental --line-porcelain --porcelain --root --show-stats --show-email --show-name --show-number --reverse --score-debug --minimal --progress --no-progress --ignore-rev= --ignore-revs-file=:read --color-lines --color-by-age --textconv:run --encoding= --first-parent --since= -t -l -f"},
		{names: "grep", args: data, flags: "-# -aciIlLnopPqvwWzEFGhHO? -e= -f=:read -A= -B= -C= -m=,--max-count= --and --or --not --all-match --cached --no-index --untracked --no-exclude-standard --exclude-standard --recurse-submodules --color? --no-color --break --heading --count --files-with-matches --name-only --files-without-match --line-number --column --only-matching --ignore-case --invert-match --word-regexp --fixed-strings --extended-regexp --perl-regexp --basic-regexp --show-function --function-context --max-depth= --threads= --full-name --text --quiet -O?,--open-files-in-pager?:run --textconv:run --no-textconv --null --context= --after-context= --before-context= -r --recursive --no-recursive", check: checkGitLists},
		{names: "ls-files", args: data, flags: "-cdikmostuvzf -x=,--exclude= -X=,--exclude-from=:read --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory --no-empty-directory --eol --deduplicate --exclude-standard --exclude-per-directory= --error-unmatch --with-tree= --full-name --recurse-submodules --abbrev? --debug --format= --sparse --resolve-undo", check: checkGitAlwaysLists},
		{names: "ls-tree", args: data, flags: "-dlrtz --name-only --name-status --object-only --long --full-name --full-tree --abbrev? --format="},
		{names: "cat-file", args: data, flags: "-eptsZz --batch? --batch-check? --batch-command? --batch-all-objects --buffer --unordered --follow-symlinks --allow-unknown-type --use-mailmap --mailmap --textconv:run --filters:run --path= --filter=", check: checkGitShow},
		{names: "describe", args: data, flags: "--tags --all --always --long --contains --dirty? --broken? --abbrev= --match= --exclude= --candidates= --exact-match --first-parent --debug"},
		{names: "rev-parse", args: itself},
		{names: "merge-base name-rev cherry show-ref show-branch for-each-ref count-objects check-ignore check-attr check-mailmap check-ref-format var fsck get-tar-commit-id merge-tree patch-id stripspace column version", args: itself, check: checkGitQuery},
		{names: "verify-commit verify-tag verify-pack", args: data, does: MustAsk, flags: "-vs --raw --format=", why: "runs the program that checks signatures"},
		{names: "help", args: data, flags: "-aciIgmv --all --guides --config --man --verbose --no-external-commands --no-aliases -w,--web:run -i,--info:run"},
		{names: "reflog", args: itself, check: checkGitReflog},
		{names: "remote", args: subcommand, bare: verdict(ReadOnly), flags: "-v --verbose"},
		{names: "remote/get-url", args: data, flags: "--push --all"},
		{names: "remote/show remote/update remote/prune", does: Network, args: data, flags: "-n -p --prune --dry-run", why: "contacts a remote"},
		{names: "remote/add remote/rename remote/remove remote/rm remote/set-url remote/set-head remote/set-branches", does: Dangerous, args: itself, why: settings},
		{names: "stash", args: subcommand, bare: verdict(Writes), flags: "-uakqpS -m= --include-untracked --keep-index --all --quiet --message= --patch --staged --no-keep-index"},
		{names: "stash/list", args: data, flags: gitLogFlags},
		{names: "stash/show", args: data, flags: gitDiffFlags + " --include-untracked --only-untracked"},
		{names: "stash/push stash/save stash/pop stash/apply stash/branch stash/create stash/store", does: Writes, args: data, flags: "-uakqpS -m=,--message= --include-untracked --keep-index --no-keep-index --all --quiet --patch --index --staged --pathspec-from-file=:read"},
		{names: "stash/drop stash/clear", does: Dangerous, args: itself, why: discards},
		{names: "branch", args: itself, check: checkGitBranch},
		{names: "tag", args: itself, check: checkGitTag},
		{names: "config", args: itself, check: checkGitConfig},
		{names: "worktree", args: subcommand},
		{names: "worktree/list", flags: "-vz --porcelain --verbose"},
		{names: "worktree/add", does: Writes, args: itself, check: checkGitPlace},
		{names: "worktree/lock worktree/unlock worktree/repair", does: Writes, args: data, flags: "--reason="},
		{names: "worktree/move worktree/remove worktree/prune", does: Dangerous, args: itself, why: discards},
		{names: "add stage", does: Writes, args: data, flags: "-AfnNpuvie --all --force --dry-run --intent-to-add --patch --update --verbose --no-all --ignore-removal --ignore-errors --ignore-missing --chmod= --refresh --renormalize --sparse --no-warn-embedded-repo --pathspec-from-file=:read --pathspec-file-nul --interactive --edit:run"},
		{names: "commit", does: Writes, args: data, flags: "-aeinopqsuvz -m=,--message= -F=,--file=:read -C=,--reuse-message= -c=,--reedit-message= -t=,--template=:read -S?,--gpg-sign?:ask --no-gpg-sign --all --amend --allow-empty --allow-empty-message --author= --date= --branch --cleanup= --dry-run --edit --no-edit --fixup= --squash= --include --interactive --long --no-post-rewrite --no-status --no-verify --verify --null --only --patch --pathspec-from-file=:read --porcelain --quiet --reset-author --short --signoff --no-signoff --status --trailer= -u?,--untracked-files? --verbose"},
		{names: "checkout", does: Writes, args: itself, check: checkGitCheckout},
		{names: "switch", does: Writes, args: data, flags: "-dcqtg -c=,--create= -C=,--force-create=:danger -f,--force,--discard-changes:danger --detach --guess --no-guess --quiet --no-progress --progress --track? --no-track --merge -m --conflict= --orphan= --ignore-other-worktrees --recurse-submodules"},
		{names: "restore", args: itself, check: checkGitRestore},
		{names: "reset", args: itself, check: checkGitReset},
		{names: "clean", args: itself, check: checkGitClean},
		{names: "merge", does: Writes, args: data, flags: "-nqv -m=,--message= -s=,--strategy= -X=,--strategy-option= -S?:ask --ff --no-ff --ff-only --squash --no-squash --commit --no-commit --edit --no-edit --abort:danger --continue --quit --stat --no-stat --log? --signoff --verify --no-verify --allow-unrelated-histories --autostash --no-autostash --verify-signatures:ask -F=:read --into-name= --rerere-autoupdate --quiet --verbose --progress -e"},
		{names: "rebase", does: MustAsk, args: data, why: "rewrites history", flags: "-ikmqvfpr -s= -X= --onto= --root --continue --skip:danger --abort:danger --quit --autostash --no-autostash --autosquash --no-autosquash --keep-base --interactive --merge --rebase-merges? --update-refs --committer-date-is-author-date --fork-point --no-fork-point --no-verify --no-ff --empty= --signoff -x=,--exec=:script -S?:ask"},
		{names: "cherry-pick revert", does: Writes, args: data, flags: "-enxrs -m=,--mainline= -S?:ask -X= --strategy= --no-commit --edit --no-edit --signoff --allow-empty --allow-empty-message --keep-redundant-commits --continue --quit --skip --abort:danger --ff --empty= --cleanup= --no-gpg-sign --reference"},
		{names: "am", does: Writes, args: read, flags: "-3iksqcbumn -p= -C= -S?:ask --3way --signoff --keep --continue --resolved --skip --abort:danger --quit --reject --whitespace= --ignore-whitespace --directory=:write --exclude= --include= --patch-format= --no-verify --keep-cr --message-id --quiet --show-current-patch? -r"},
		{names: "apply", does: Writes, args: read, flags: "-3Rvzq -p= -C= --stat --numstat --summary --check --index --cached --3way --reverse --reject --verbose --quiet --whitespace= --ignore-whitespace --ignore-space-change --unidiff-zero --exclude= --include= --directory=:write --apply --binary --allow-empty --inaccurate-eof --recount --unsafe-paths:danger --build-fake-ancestor=:write --intent-to-add -N", check: checkGitApply},
		{names: "format-patch", does: Writes, args: data, flags: gitLogFlags + " -o=,--output-directory=:write -N -k -s -v= --stdout --numbered --no-numbered --start-number= --subject-prefix= --rfc? --cover-letter --signoff --attach? --inline? --thread? --in-reply-to= --to= --cc= --base= --zero-commit --suffix= --signature= --no-signature --signature-file=:read --keep-subject --numbered-files --reroll-count= --interdiff= --range-diff= --description-file=:read --cover-from-description= --filename-max-length= --from? --add-header= --progress --creation-factor="},
		{names: "mv", does: Writes, args: moving, flags: "-fknv --force --dry-run --verbose"},
		{names: "rm", does: Writes, args: itself, check: checkGitRm},
		{names: "init", does: Writes, args: create, flags: "-q -b=,--initial-branch= --quiet --bare --object-format= --ref-format= --shared? --template=:run --separate-git-dir=:danger"},
		{names: "notes", does: Writes, args: itself, check: checkGitNotes},
		{names: "bisect", does: Writes, args: itself, check: checkGitBisect},
		{names: "gc repack pack-refs prune-packed commit-graph multi-pack-index pack-objects index-pack unpack-objects update-server-info", does: Writes, args: itself, check: checkGitGc},
		{names: "prune", does: Dangerous, args: itself, why: discards},
		{names: "update-index read-tree write-tree commit-tree mktag mktree merge-file merge-index merge-one-file update-ref symbolic-ref replace rerere sparse-checkout checkout-index", does: MustAsk, args: itself, why: "changes the repository by hand", check: checkGitPlumbing},
		{names: "hash-object", args: read, flags: "-t= -w:mod --stdin --stdin-paths --path= --no-filters --literally"},
		{names: "bundle archive", does: ReadOnly, args: itself, check: checkGitArchive},
		{names: "submodule", args: itself, check: checkGitSubmodule},
		{names: "clone", does: Network, args: itself, check: checkGitClone, why: "contacts a remote"},
		{names: "fetch pull", does: Network, args: data, flags: "-# -4afjkmnpPqtuvs -j=,--jobs= -o=,--server-option= -X= -S?:ask --all --append --atomic --depth= --deepen= --shallow-since= --shallow-exclude= --unshallow --update-shallow --negotiation-tip= --dry-run --force --keep --multiple --auto-maintenance --no-auto-maintenance --prune --prune-tags --no-tags --tags --refmap= --refetch --recurse-submodules? --no-recurse-submodules --set-upstream --ipv4 --ipv6 --quiet --verbose --progress --rebase? --no-rebase --ff --no-ff --ff-only --commit --no-commit --edit --no-edit --squash --no-squash --autostash --no-autostash --allow-unrelated-histories --strategy= --strategy-option= --stat --no-stat --signoff --log? --write-fetch-head --porcelain --filter= --update-head-ok --show-forced-updates --no-show-forced-updates --upload-pack=:run", check: checkGitRemoteArgs, why: "contacts a remote"},
		{names: "push", does: Network, args: itself, check: checkGitPush, why: "contacts a remote"},
		{names: "ls-remote", does: Network, args: data, flags: "-bhtq --heads --branches --tags --refs --quiet --exit-code --get-url --sort= --symref -o= --server-option= --upload-pack=,--exec=:run", check: checkGitRemoteArgs, why: "contacts a remote"},
		{names: "request-pull", does: Network, args: data, flags: "-p", why: "contacts a remote"},
		{names: "difftool mergetool", does: Dangerous, args: itself, why: "starts another program", check: checkGitTool},
		{names: "filter-branch filter-repo replay", does: Dangerous, args: itself, why: "rewrites history"},
		{names: "credential credential-store credential-cache credential-manager", does: Dangerous, args: itself, why: "reads credentials"},
		{names: "send-email imap-send http-push http-fetch fetch-pack send-pack svn p4 cvsimport cvsexportcommit archimport quiltimport", does: Dangerous, args: itself, why: "sends the repository away"},
		{names: "daemon http-backend instaweb shell upload-pack receive-pack upload-archive gui gitk citool web--browse cvsserver", does: Dangerous, args: itself, why: "starts another program"},
		{names: "hook maintenance fsmonitor--daemon fast-import fast-export", does: Dangerous, args: itself, why: "runs programs or rewrites the repository"},
		{names: "lfs", does: MustAsk, args: itself, why: "an extension of git", check: checkHooks},
		{names: "annex flow", does: MustAsk, args: itself, why: "an extension of git"},
	}
}

// otherVCS are the other systems of version control.
func otherVCS() []row {
	return []row{
		{names: "hg", args: subcommand, bare: verdict(ReadOnly), flags: "-qvy -R=:dir --cwd=:dir --config=:run --debugger:run --pager= --color="},
		{names: "svn", args: subcommand, bare: verdict(ReadOnly)},
		{names: "jj", does: MustAsk, args: itself, why: "may change the repository"},
		{names: "gitk tig lazygit gitui git-gui", does: MustAsk, args: itself, why: "an interactive program"},
		{names: "pre-commit lefthook husky overcommit", does: MustAsk, args: itself, why: "runs the hooks of the project", check: checkHooks},
		{names: "git-lfs", does: MustAsk, args: itself, why: "an extension of git", check: checkHooks},
		{names: "bzr cvs fossil darcs p4 sl pijul", does: MustAsk, args: itself, why: "may change the repository"},
	}
}
