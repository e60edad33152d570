package shell

const project = "runs the build or the tests of the project"

// buildTools run recipes of the project.
func buildTools() []row {
	return []row{
		{names: "make gmake bmake", does: Writes, args: itself, why: project, check: checkMake},
		{names: "cmake", args: itself, check: checkCMake},
		{names: "ctest cpack", does: Writes, args: data, why: project, flags: "-# -VQFNvx -j?,--parallel? -R=,--tests-regex= -E=,--exclude-regex= -L=,--label-regex= -LE= -C=,--build-config= -I= -G= -B=:write --output-on-failure --verbose --extra-verbose --rerun-failed --timeout= --test-dir=:dir --show-only? --repeat= --stop-on-failure --progress --no-tests= --schedule-random -O=,--output-log=:write --output-junit=:write -S=:ask --script=:ask -D=:net -T=:net"},
		{names: "ninja samu", does: Writes, args: data, why: project, flags: "-nvhw -j= -k= -l= -C=:dir -f=:config -d= -t= --verbose --quiet"},
		{names: "meson", does: Writes, args: itself, why: project, check: checkProjectTool},
		{names: "bazel bazelisk buck2 pants please scons waf b2 xmake premake5 just task tox nox invoke inv rake thor grunt gulp webpack rollup esbuild vite parcel turbo nx lerna ant sbt mill lein leiningen stack cabal dune mix rebar3 zig gradle gradlew mvn mvnw mvnd dotnet msbuild xcodebuild swiftpm fastlane qmake autoconf automake autoreconf aclocal libtoolize", does: Writes, args: itself, why: project, check: checkProjectTool},
		{names: "protoc buf thrift flatc capnp swagger openapi-generator sqlc wire mockgen stringer controller-gen", does: Writes, args: itself, why: "generates files", check: checkGenerator},
		{names: "act gitlab-runner earthly dagger skaffold tilt", does: Dangerous, args: itself, why: "starts containers"},
	}
}

const goBuildFlags = `-a -n -v -x -race -msan -asan -cover -trimpath -work -linkshared -modcacherw -json -s -u -p= -o=:write -mod= -modfile=:read -tags= -covermode= -coverpkg= -asmflags= -gcflags= -gccgoflags= -buildmode= -buildvcs? -compiler= -installsuffix= -pkgdir=:write
	-pgo= -overlay=:ask -ldflags=:goldflags -C=:dir -toolexec=:run -exec=:run -vettool=:run`

// goRows are the verbs of go.
func goRows() []row {
	return []row{
		{names: "version", oneDash: true, flags: "-m -v", args: data},
		{names: "help doc", oneDash: true, args: data, flags: "-all -c -cmd -short -src -u -http:net"},
		{names: "env", oneDash: true, args: data, flags: "-json -changed -w:danger -u:danger"},
		{names: "list", oneDash: true, args: data, flags: "-f= -deps -test -find -compiled -e -export -retracted -versions:net -m -u:net -json? -reuse="},
		{names: "vet", oneDash: true, args: data, flags: "-c= -json -fix:mod -diff -all -printf -shadow -atomic -copylocks -unusedresult -composites? -nilness -structtag -tests -unreachable -assign -bools -buildtag -shift -stdmethods -unsafeptr -lostcancel -loopclosure -httpresponse -errorsas -framepointer -ifaceassert -sigchanyzer -stringintconv -testinggoroutine -timeformat -unmarshal -directive -slog -appends -defers"},
		{names: "build", does: Writes, oneDash: true, args: data, why: project, flags: "-i -c"},
		{names: "test", does: Writes, oneDash: true, args: data, why: project, flags: "-c -i -run= -skip= -list= -count= -timeout= -short -failfast -fullpath -shuffle= -cpu= -parallel= -bench= -benchtime= -benchmem -vet= -fuzz= -fuzztime= -fuzzminimizetime= -args -artifacts -update:mod -coverprofile=:write -cpuprofile=:write -memprofile=:write -blockprofile=:write -mutexprofile=:write -trace=:write -outputdir=:write -test.gocoverdir=:write -memprofilerate= -blockprofilerate= -mutexprofilefraction= -test.v -test.run= -test.timeout= -test.count="},
		{names: "fmt", does: Writes, oneDash: true, args: data, flags: "-n -x"},
		{names: "fix", does: Writes, oneDash: true, args: data, flags: "-diff -fix= -go= -r="},
		{names: "run", does: MustAsk, oneDash: true, args: itself, why: "compiles and runs code", check: checkGoRun},
		{names: "generate", does: Dangerous, args: itself, why: "runs the commands in comments of the source"},
		{names: "get", does: Network, args: itself, why: "downloads modules"},
		{names: "install", does: Dangerous, args: itself, why: "installs a program outside the workspace"},
		{names: "clean", does: Writes, oneDash: true, args: data, flags: "-i:danger -r -cache:danger -testcache -modcache:danger -fuzzcache:danger"},
		{names: "tool", does: MustAsk, args: itself, why: "runs another program", check: checkGoTool},
		{names: "mod", oneDash: true, args: subcommand, bare: verdict(ReadOnly)},
		{names: "mod/init", does: Writes, args: data, oneDash: true},
		{names: "mod/tidy mod/download mod/vendor", does: Network, args: itself, why: "may download modules"},
		{names: "mod/edit", does: Writes, args: data, oneDash: true, flags: "-fmt -print -require= -droprequire= -exclude= -dropexclude= -replace=:ask -dropreplace= -retract= -dropretract= -go= -toolchain=:ask -module= -tool= -droptool= -godebug="},
		{names: "mod/graph mod/verify mod/why", args: data, oneDash: true, flags: "-go= -m -vendor -x", does: ReadOnly},
		{names: "work", oneDash: true, args: subcommand, bare: verdict(ReadOnly)},
		{names: "work/init work/use work/edit", does: Writes, args: itself, check: checkWorkUse},
		{names: "work/sync work/vendor", does: Network, args: itself, why: "may download modules"},
		{names: "telemetry", does: Dangerous, args: itself, why: "changes settings outside"},
		{names: "bug", does: Dangerous, args: itself, why: "starts a browser"},
	}
}

// goHelpers are go itself and the tools around it.
func goHelpers() []row {
	return []row{
		{names: "go", args: subcommand, oneDash: true, flags: "-C=:dir"},
		{names: "gofmt gofumpt goimports gci golines", args: read, oneDash: true, flags: "-d -e -l -s -v -extra -r= -w:inplace -local= -srcdir= -format-only -m= -cpuprofile=:write -modpath= -lang= -base-formatter=:run"},
		{names: "golangci-lint", does: Writes, args: itself, why: "lints the project", check: checkProjectTool},
		{names: "staticcheck revive errcheck gosec govulncheck deadcode ineffassign gocyclo", args: itself, does: Writes, why: "lints the project", check: checkProjectTool},
		{names: "dlv", does: MustAsk, args: itself, why: "runs a program under control"},
		{names: "gotestsum ginkgo richgo", does: Writes, args: itself, why: project, check: checkProjectTool},
		{names: "goreleaser ko", does: Dangerous, args: itself, why: "publishes"},
		{names: "gopls", does: MustAsk, args: itself, why: "a server"},
		{names: "benchstat pprof", does: MustAsk, args: itself, why: "may start other programs"},
	}
}

// rust is cargo and its kin.
func rust() []row {
	cargo := "-qvnZ --quiet --verbose --offline --locked --frozen --color= --list --release -r --debug --all --workspace --all-targets --all-features --no-default-features --features= -F= -p=,--package= --exclude= --lib --bins --bin= --example= --examples --test= --tests --bench= --benches --doc --profile= --target= -j=,--jobs= --keep-going --message-format= --no-run --no-fail-fast --ignore-rust-version --timings? --future-incompat-report --unit-graph --target-dir=:write --manifest-path=:read --config=:run -C=:dir --explain= --dry-run -Z=:ask"
	return []row{
		{names: "cargo", args: subcommand, bare: verdict(ReadOnly), flags: cargo + " -V --version"},
		{names: "cargo/build cargo/b cargo/check cargo/c cargo/test cargo/t cargo/bench cargo/doc cargo/d cargo/clippy cargo/nextest cargo/llvm-cov cargo/miri cargo/expand cargo/rustc cargo/rustdoc", does: Writes, args: data, why: project, flags: "--document-private-items --no-deps --open:run --fix:mod --allow-dirty --allow-staged"},
		{names: "cargo/fmt cargo/fix", does: Writes, args: data, why: "formats the project", flags: "--check --allow-dirty --allow-staged --allow-no-vcs --edition --broken-code"},
		{names: "cargo/clean", does: Writes, args: data, flags: "--doc", why: "removes build output"},
		{names: "cargo/new cargo/init", does: Writes, args: create, flags: "--name= --edition= --vcs= --registry="},
		{names: "cargo/tree cargo/metadata cargo/pkgid cargo/locate-project cargo/version cargo/help cargo/read-manifest cargo/verify-project", args: data, flags: "-e=,--edges= -i=,--invert? -f=,--format= --prefix= --depth= --duplicates -d --prune= --no-dedupe --charset= --no-deps --format-version= --filter-platform= --workspace"},
		{names: "cargo/run cargo/r", does: MustAsk, args: data, why: "compiles and runs code"},
		{names: "cargo/update cargo/fetch cargo/add cargo/search cargo/info cargo/generate-lockfile cargo/vendor cargo/outdated cargo/audit cargo/deny cargo/report cargo/upgrade", does: Network, args: itself, why: "contacts a registry"},
		{names: "cargo/remove cargo/rm", does: Writes, args: data, flags: "--dev --build"},
		{names: "cargo/install cargo/uninstall cargo/binstall", does: Dangerous, args: itself, why: "installs a program outside the workspace"},
		{names: "cargo/publish cargo/login cargo/logout cargo/owner cargo/yank cargo/package", does: Dangerous, args: itself, why: "publishes or uses credentials"},
		{names: "rustup", args: subcommand, bare: verdict(ReadOnly)},
		{names: "rustup/show rustup/which rustup/component rustup/doc_", does: Network, args: itself, why: "may contact a server"},
		{names: "rustup/toolchain rustup/update rustup/install rustup/default rustup/target rustup/self rustup/override rustup/set", does: Dangerous, args: itself, why: "changes the toolchain outside the workspace"},
		{names: "rustup/run", does: MustAsk, args: itself, why: "runs a program"},
		{names: "rustfmt", args: create, does: Writes, flags: "--check --edition= --emit= --color= -l -q -v --config=:ask --config-path=:ask --print-config= --backup"},
		{names: "rustc rustdoc", does: Writes, args: itself, why: "compiles", check: checkCompiler},
		{names: "wasm-pack trunk cross", does: Writes, args: itself, why: project, check: checkProjectTool},
	}
}

// javascript is npm and its kin.
func javascript() []row {
	npm := "-sdqwD --silent --quiet --json --long --parseable --if-present --ignore-scripts --no-audit --no-fund --workspaces -ws --workspace= --prefix=:dir -C=:dir --loglevel= --color? --no-color --production --dev --omit= --include= --depth= --all -a -g,--global:danger --location=:danger --script-shell=:run --node-options=:run --shell=:run --userconfig=:run --globalconfig=:run --registry=:danger --cache=:danger --scripts-prepend-node-path=:run --init-module=:run --editor=:run --browser=:run --viewer=:run --git=:run --no-progress --progress? --offline --prefer-offline --foreground-scripts --yes -y --frozen-lockfile --silent --recursive -r --filter= --parallel --stream --no-bail --reporter= --cwd=:dir"
	run := []row{
		{names: "test t tst", does: Writes, args: data, why: project},
		{names: "run run-script rum start stop restart", does: Writes, args: data, why: project, check: checkScriptName},
	}
	rows := []row{}
	for _, tool := range []string{"npm", "pnpm", "yarn"} {
		rows = append(rows, row{names: tool, args: subcommand, bare: verdict(Network), flags: npm + " -v --version -h --help"})
		for _, r := range run {
			r.names = under(tool, r.names)
			rows = append(rows, r)
		}
		rows = append(rows,
			row{names: under(tool, "ls list ll la explain why help help-search root prefix bin query licenses"), args: data, flags: "--depth= --prod --link -g --global"},
			row{names: under(tool, "build lint format fmt typecheck check dev compile"), does: Writes, args: data, why: project},
			row{names: under(tool, "pkg version init prune rebuild shrinkwrap pack set-script patch workspaces workspace"), does: MustAsk, args: itself, why: "changes the project"},
			row{names: under(tool, "install i ci add in ins isntall clean-install install-test it install-ci-test cit update up upgrade upg outdated audit view v info show search s find docs home repo bugs dedupe ddp uninstall un remove rm r link ln unlink fetch import doctor ping star stars diff sbom create"), does: Network, args: itself, why: "contacts a registry", check: checkNodePackages},
			row{names: under(tool, "exec x dlx"), does: MustAsk, args: itself, why: "downloads and runs a program", check: checkNodeExec},
			row{names: under(tool, "global publish unpublish login logout adduser add-user whoami token owner access deprecate dist-tag team org hook profile config c get set npm self-update setup env edit explore cache store server deploy plugin policies"), does: Dangerous, args: itself, why: "publishes, uses credentials or changes settings", check: checkNodeConfig},
		)
	}
	return append(rows,
		row{names: "npx pnpx bunx", does: MustAsk, args: itself, why: "downloads and runs a program", check: checkNodeExec},
		row{names: "corepack nvm fnm volta n asdf mise rtx", does: Dangerous, args: itself, why: "changes the toolchain outside the workspace"},
		row{names: "node-gyp electron-builder expo react-native ng vue next nuxt astro svelte-kit gatsby remix storybook ember quasar cdk sls serverless wrangler vercel netlify firebase", does: MustAsk, args: itself, why: "a tool of the project that may contact other hosts"},
	)
}

// python is the interpreter and its package tools.
func python() []row {
	return []row{
		{names: "python python2 python3 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 pypy pypy3 ipython py", args: itself, runner: true, check: checkPython},
		{names: "pytest py.test", does: Writes, args: data, why: project, flags: "-# -qvxslhV -k= -m= -n= -r= -p=:run -c=:run -W= -o=:run --override-ini=:run --rootdir=:ask --confcutdir= --maxfail= --tb= --durations= --lf --ff --nf --sw --last-failed --failed-first --new-first --stepwise --stepwise-skip --exitfirst --collect-only --co --quiet --verbose --no-header --no-summary --color= --capture= --cov? --cov-report= --cov-config=:read --cov-append --no-cov --cov-branch --cov-fail-under= --junitxml=:write --junit-xml=:write --basetemp=:danger --pdb:ask --pdbcls=:run --trace:ask --ignore= --ignore-glob= --deselect= --import-mode= --doctest-modules --doctest-glob= --strict --strict-markers --strict-config --disable-warnings --disable-pytest-warnings --showlocals --show-capture= --runxfail --setup-show --setup-plan --fixtures --markers --cache-show? --cache-clear --log-level= --log-cli-level= --log-file=:write --asyncio-mode= --timeout= --reruns= --dist= --numprocesses= --randomly-seed= --pyargs --full-trace --debug? --config-file=:run --rsyncdir=:ask --tx=:run --html=:write --self-contained-html --benchmark-only --benchmark-skip --snapshot-update --keep-duplicates --noconftest"},
		{names: "pip pip3 pip3.11 pip3.12", args: subcommand, bare: verdict(ReadOnly), flags: "-qvV --quiet --verbose --version --disable-pip-version-check --no-input --no-color --isolated --no-cache-dir --python=:run --log=:write --proxy=:danger --config-settings=:ask --require-virtualenv"},
		{names: under("pip pip3", "list show freeze check help inspect debug hash"), args: data, flags: "-ole --outdated:net -o:net --uptodate:net --format= --local --user --not-required --files --editable --path= --all --exclude= --exclude-editable --pre"},
		{names: under("pip pip3", "install download wheel index search"), does: Network, args: itself, why: "downloads packages", check: checkPipInstall},
		{names: under("pip pip3", "uninstall config cache"), does: Dangerous, args: itself, why: "changes packages or settings outside the workspace"},
		{names: "uv", args: subcommand, bare: verdict(ReadOnly), flags: "-qv --offline --quiet --verbose --no-cache --version --directory=:dir --project=:dir --config-file=:run"},
		{names: "uv/sync uv/lock uv/add uv/remove uv/tree uv/export uv/init uv/venv uv/pip uv/build uv/version uv/format", does: Network, args: itself, why: "may download packages"},
		{names: "uv/run", does: Network, args: itself, why: "may download packages", check: checkUvRun},
		{names: "uv/tool uv/python uv/self uv/publish uv/cache uv/auth", does: MustAsk, args: itself, why: "runs or installs a program", check: checkDangerWords},
		{names: "uvx pipx", does: MustAsk, args: itself, why: "downloads and runs a program", check: checkDangerWords},
		{names: "poetry pipenv pdm hatch rye conda mamba micromamba", does: Network, args: itself, why: "may download packages", check: checkPythonProject},
		{names: "virtualenv", does: Writes, args: create, flags: "-qv -p=:ask --python=:ask --system-site-packages --clear:danger"},
		{names: "twine flit", does: Dangerous, args: itself, why: "publishes"},
		{names: "coverage", does: Writes, args: itself, why: project, check: checkCoverage},
		{names: "jupyter ipykernel streamlit gunicorn uvicorn flask django-admin celery scrapy", does: MustAsk, args: itself, why: "runs code of the project"},
		{names: "cython", does: Writes, args: itself, why: "generates files", check: checkGenerator},
	}
}

// otherLanguages are package tools of other languages.
func otherLanguages() []row {
	return []row{
		{names: "bundle bundler", args: subcommand, bare: verdict(Network), why: "may download packages"},
		{names: "bundle/exec", args: itself, check: checkBundleExec},
		{names: "bundle/list bundle/show bundle/info bundle/check bundle/version bundle/platform bundle/licenses bundle/help", args: itself},
		{names: "bundle/install bundle/update bundle/add bundle/outdated bundle/lock bundle/package bundle/cache bundle/remove", does: Network, args: itself, why: "may download packages"},
		{names: "bundle/config bundle/open bundle/console bundle/plugin bundle/gem bundle/init bundle/binstubs", does: Dangerous, args: itself, why: "changes settings or starts a program"},
		{names: "gem", args: subcommand, bare: verdict(ReadOnly)},
		{names: "gem/list gem/environment gem/which gem/contents gem/specification gem/dependency gem/help", args: itself},
		{names: "gem/search gem/fetch gem/outdated gem/info", does: Network, args: itself, why: "contacts a registry"},
		{names: "gem/install gem/uninstall gem/update gem/push gem/signin gem/owner gem/yank gem/cleanup gem/exec", does: Dangerous, args: itself, why: "changes packages outside the workspace"},
		{names: "rspec minitest cucumber rails rubocop standardrb brakeman", does: Writes, args: itself, why: project, check: checkProjectTool},
		{names: "composer", does: Network, args: itself, why: "may download packages", check: checkComposer},
		{names: "phpunit pest phpstan psalm phpcs phpcbf php-cs-fixer artisan", does: Writes, args: itself, why: project, check: checkProjectTool},
		{names: "cpan cpanm luarocks opam raco hackage nuget vcpkg conan pod carthage helmfile", does: Dangerous, args: itself, why: "installs packages outside the workspace"},
		{names: "prove", does: Writes, args: itself, why: project, check: checkProjectTool},
		{names: "flutter pub", does: Network, args: itself, why: "may download packages"},
	}
}

// checkers look at code or format it.
func checkers() []row {
	return []row{
		{names: "prettier", args: read, flags: "-cluw -l,--list-different -c,--check -w,--write:inplace --config=:run --config-path=:run --no-config --plugin=:run --parser= --ignore-path=:read --ignore-unknown --stdin-filepath= --tab-width= --print-width= --single-quote --semi --no-semi --trailing-comma= --log-level= --loglevel= --cache --no-color --end-of-line= --use-tabs --prose-wrap= --find-config-path= --support-info --with-node-modules --no-editorconfig --experimental-ternaries --bracket-same-line --arrow-parens="},
		{names: "eslint", args: read, flags: "-f=,--format=:run -c=,--config=:run --fix:inplace --fix-dry-run --fix-type= --ext= --quiet --max-warnings= --cache --cache-location=:write --cache-strategy= --no-eslintrc --no-config-lookup --rule= --rulesdir=:run --plugin=:run --parser=:run --parser-options= --resolve-plugins-relative-to=:run --env= --global= --ignore-path=:read --ignore-pattern= --no-ignore --no-inline-config --report-unused-disable-directives -o=,--output-file=:write --color --no-color --debug --print-config= --no-error-on-unmatched-pattern --stdin --stdin-filename= --init:ask --stats --flag= --pass-on-no-patterns"},
		{names: "tsc tsgo", does: Writes, args: read, why: "compiles", flags: "-bwp --noEmit --build --watch -p=,--project=:read --outDir=:write --outFile=:write --declarationDir=:write --tsBuildInfoFile=:write --rootDir= --target= -t= --module= -m= --lib= --jsx= --strict --skipLibCheck --esModuleInterop --declaration -d --sourceMap --incremental --pretty --listFiles --listFilesOnly --showConfig --init --allowJs --checkJs --noImplicitAny --moduleResolution= --resolveJsonModule --isolatedModules --diagnostics --extendedDiagnostics --traceResolution --generateTrace=:write --generateCpuProfile=:write --emitDeclarationOnly --noErrorTruncation --explainFiles", check: checkTsc},
		{names: "jest vitest mocha ava jasmine karma playwright cypress c8 nyc tap uvu wtr", does: Writes, args: itself, why: project, check: checkProjectTool},
		{names: "biome oxlint stylelint tslint standard xo dprint", does: Writes, args: itself, why: "lints or formats the project", check: checkProjectTool},
		{names: "ruff", args: itself, does: Writes, why: "lints or formats the project", check: checkRuff},
		{names: "black isort autopep8 yapf autoflake docformatter pyupgrade", does: Writes, args: create, flags: "-qvlSCtricad -l=,--line-length= -t=,--target-version= --check --diff --color --no-color --quiet --verbose --fast --safe --exclude= --include= --extend-exclude= --force-exclude= --skip-string-normalization --profile= --check-only --in-place --recursive --aggressive --config=:read --workers= --stdin-filename= --preview --pyi --remove-all-unused-imports --settings-path=:read --settings-file=:read -c= --py38-plus --py39-plus --py310-plus", check: checkFormatCheck},
		{names: "mypy pyright flake8 pylint pyflakes pycodestyle pydocstyle bandit vulture pytype pyre ty radon", does: Writes, args: itself, why: "lints the project", check: checkPythonLint},
		{names: "shellcheck", args: read, flags: "-axC -e=,--exclude= -f=,--format= -s=,--shell= -S=,--severity= -o=,--enable= -i=,--include= -P= -W= --color? --norc --rcfile=:read --external-sources --check-sourced --list-optional --wiki-link-count= --version"},
		{names: "shfmt", args: read, flags: "-dlsfw -w,--write:inplace -i=,--indent= -ln=,--language-dialect= -p -bn -ci -sr -kp -fn -mn -l,--list -d,--diff --simplify --find --apply-ignore --filename="},
		{names: "yamllint jsonlint markdownlint hadolint actionlint codespell typos vale cspell proselint write-good htmlhint checkov tflint ansible-lint cppcheck clang-tidy cpplint swiftlint ktlint detekt checkstyle spotbugs luacheck stylua buildifier taplo editorconfig-checker dprint-check semgrep trivy grype syft gitleaks trufflehog commitlint", does: Writes, args: itself, why: "lints the project", check: checkProjectTool},
		{names: "clang-format", args: read, flags: "-n -i:inplace --style= --dry-run -Werror --Werror --verbose --fallback-style= --assume-filename= --lines= --sort-includes --dump-config --files=:read"},
	}
}

// compilers turn source into programs.
func compilers() []row {
	return []row{
		{names: "gcc g++ cc c++ clang clang++ cpp gfortran tcc as ld ld.lld lld gold nasm yasm", does: Writes, args: itself, why: "compiles", check: checkCompiler},
		{names: "javac scalac kotlinc ghdl ocamlc ocamlopt mcs csc fpc nim crystal dmd ldc2 gdc valac swiftc tsc-native solc elixirc erlc emcc em++ wat2wasm wasm2wat", does: Writes, args: itself, why: "compiles", check: checkCompiler},
		{names: "strip objcopy ranlib", does: Writes, args: create, flags: "-sgSdxX -o=:write -K= -N= -R= --strip-all --strip-debug --strip-unneeded --only-keep-debug --add-gnu-debuglink=", why: "changes a program"},
		{names: "jar", does: Writes, args: itself, why: "packs or unpacks", check: checkNamedOutside},
		{names: "pkg-config llvm-config javap jdeps", args: itself},
		{names: "latex pdflatex xelatex lualatex latexmk tex bibtex biber", does: MustAsk, args: itself, why: "documents may run programs", check: checkLatex},
	}
}
