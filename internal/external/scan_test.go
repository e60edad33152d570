package external

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ikigai/internal/sandbox"
	"ikigai/internal/tool"
)

// reasons maps the name of each file that is no tool to why.
func reasons(s *tool.Set) map[string]string {
	all := map[string]string{}
	for _, p := range s.Problems {
		all[filepath.Base(p.Path)] = p.Reason
	}
	return all
}

func TestFilesAreToolsOrProblemsWithAReason(t *testing.T) {
	b := newBench(t, sandbox.Off)
	short := `{"name":"short","description":"d","parameters":{"path":{"type":"string","required":true,"format":"path"}}}`
	long := `{"name":"long","description":"d","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}`
	b.put("short", sh("", short, ""))
	b.put("long.py", sh("", long, ""))
	b.put("file-read", sh("", `{"name":"file_read","description":"d","parameters":{}}`, ""))
	b.put("file-stat", sh("", `{"name":"file-stat","description":"d","parameters":{}}`, ""))
	b.put("notes.txt", sh("notes", "", ""))
	b.put("poser", sh("bash", "", ""))
	b.put("two.sh.py", sh("two", "", ""))
	b.put(".hidden", sh("hidden", "", ""))
	b.put("left~", sh("left", "", ""))
	b.put("safe.bak", sh("safe", "", ""))
	b.put("a b", sh("a b", "", ""))
	b.put("loud", "#!/bin/sh\necho '{}' >&2; exit 4\n")
	b.put("twice", sh("", `{"name":"twice","name":"twice","description":"d","parameters":{}}`, ""))
	b.put("mute", sh("", `{"name":"mute","parameters":{}}`, ""))
	b.put("bare", sh("", `{"name":"bare","description":"d"}`, ""))
	b.put("mystery", sh("", `{"name":"mystery","description":"d","parameters":{},"effects":["magic"]}`, ""))
	b.put("brave", sh("", `{"name":"brave","description":"d","parameters":{},"risk":"none"}`, ""))
	b.put("greedy", sh("", `{"name":"greedy","description":"d","parameters":{},"env":["LD_PRELOAD"]}`, ""))
	b.put("patient", sh("", `{"name":"patient","description":"d","parameters":{},"timeout_seconds":3600}`, ""))
	b.put("odd", sh("", `{"name":"odd","description":"d","parameters":{"a b":{"type":"string"}}}`, ""))
	if err := os.Truncate(b.put("huge", sh("huge", "", "")), 1<<40); err != nil {
		t.Fatal(err)
	}
	b.put("open", sh("open", "", ""))
	if err := os.Chmod(filepath.Join(b.tools, "open"), 0o777); err != nil {
		t.Fatal(err)
	}

	set := b.scan(b.options())
	if want := []string{"file-stat", "file_read", "long", "short"}; !slices.Equal(set.Names(), want) {
		t.Errorf("tools %v, want %v", set.Names(), want)
	}
	if set.State != tool.Complete {
		t.Errorf("state %v", set.State)
	}
	want := map[string]string{
		"notes.txt": NameMismatch, "two.sh.py": NameMismatch, "safe.bak": IgnoredName, ".hidden": IgnoredName, "left~": IgnoredName, "a b": IgnoredName,
		"poser": NameMismatch, "loud": SchemaInvalid, "twice": SchemaInvalid, "mute": SchemaInvalid, "bare": SchemaInvalid,
		"mystery": SchemaInvalid, "brave": SchemaInvalid, "greedy": SchemaInvalid, "patient": SchemaInvalid, "odd": SchemaInvalid,
		"open": UnsafePermissions, "huge": SpawnFailed,
	}
	for name, reason := range reasons(set) {
		if want[name] != reason {
			t.Errorf("%s: %s, want %s", name, reason, want[name])
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s is no problem", name)
	}
	for _, p := range set.Problems {
		if p.Detail == "" {
			t.Errorf("%s: no detail", p.Path)
		}
	}
}

func TestBothFormsOfASchemaSayTheSame(t *testing.T) {
	b := newBench(t, sandbox.Off)
	b.put("one", sh("", `{"name":"one","description":"d","parameters":{"path":{"type":"string","description":"p","required":true}}}`, ""))
	b.put("two", sh("", `{"name":"two","description":"d","parameters":{"type":"object","properties":{"path":{"type":"string","description":"p"}},"required":["path"]}}`, ""))
	set := b.scan(b.options())
	one, _ := set.Lookup("one")
	two, _ := set.Lookup("two")
	if a, b := string(one.Spec().Parameters.JSON()), string(two.Spec().Parameters.JSON()); a != b || !strings.Contains(a, `"required":["path"]`) {
		t.Errorf("%s\n%s", a, b)
	}
}

func TestAnUnsafeFolderOffersNothing(t *testing.T) {
	b := newBench(t, sandbox.Off)
	b.put("fine", sh("fine", "", ""))
	if err := os.Chmod(b.tools, 0o777); err != nil {
		t.Fatal(err)
	}
	set := b.scan(b.options())
	if len(set.Names()) != 0 || len(set.Problems) != 1 || set.Problems[0].Reason != UnsafePermissions || set.Problems[0].Path != b.tools {
		t.Errorf("tools %v, problems %+v", set.Names(), set.Problems)
	}
	if err := os.Chmod(b.tools, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if set := b.scan(b.options()); len(set.Names()) != 1 {
		t.Errorf("nobody else can exchange a file there: %+v", set.Problems)
	}
}

func TestALinkIsJudgedByWhereItLeads(t *testing.T) {
	b := newBench(t, sandbox.Off)
	elsewhere := filepath.Join(filepath.Dir(b.tools), "elsewhere")
	if err := os.Mkdir(elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(elsewhere, "program")
	if err := writeProgram(target, []byte(sh("linked", "", "")), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(b.tools, "linked")); err != nil {
		t.Fatal(err)
	}
	if set := b.scan(b.options()); len(set.Names()) != 1 {
		t.Errorf("%+v", set.Problems)
	}
	if err := os.Chmod(elsewhere, 0o777); err != nil {
		t.Fatal(err)
	}
	if set := b.scan(b.options()); reasons(set)["linked"] != UnsafePermissions {
		t.Errorf("%v %+v", set.Names(), set.Problems)
	}
}

func TestOurOwnProgramIsNeitherStartedNorAProblem(t *testing.T) {
	b := newBench(t, sandbox.Off)
	own := filepath.Join(filepath.Dir(b.tools), "ikigai-tools")
	if err := writeProgram(own, []byte("#!/bin/sh\nexit 9\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(own, filepath.Join(b.tools, "glob")); err != nil {
		t.Fatal(err)
	}
	b.put("grep", sh("grep", "", ""))
	o := b.options()
	o.BuiltIn = func(real string) bool { return real == own }
	o.Base = []tool.Tool{stub("glob"), stub("grep")}
	set := b.scan(o)
	if len(set.Problems) != 0 {
		t.Errorf("%+v", set.Problems)
	}
	glob, _ := set.Lookup("glob")
	grep, _ := set.Lookup("grep")
	if glob.Spec().Origin != tool.BuiltIn || grep.Spec().Origin != tool.User || len(set.Shadowed("grep")) != 1 {
		t.Errorf("glob is %v, grep is %v and hides %v", glob.Spec().Origin, grep.Spec().Origin, set.Shadowed("grep"))
	}
}

// stub is a built-in tool that is never called.
type stub string

func (s stub) Spec() tool.Spec { return tool.Spec{Name: string(s), Origin: tool.BuiltIn} }

func (s stub) Prepare(context.Context, tool.Place, json.RawMessage) (tool.Prepared, error) {
	return tool.Prepared{}, nil
}

func TestTheNearerFolderWins(t *testing.T) {
	b := newBench(t, sandbox.Off)
	system, user := filepath.Join(b.tools, "s"), filepath.Join(b.tools, "u")
	for _, dir := range []string{system, user} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := writeProgram(filepath.Join(dir, "same"), []byte(sh("same", "", "")), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	set := Scan(t.Context(), []Dir{{user, tool.User}, {system, tool.System}}, b.options())
	same, _ := set.Lookup("same")
	if same.Spec().Path != filepath.Join(user, "same") || len(set.Shadowed("same")) != 1 {
		t.Errorf("%+v hides %+v", same.Spec(), set.Shadowed("same"))
	}
}

func TestAFolderThatIsMissingIsEmptyAndOneThatCannotBeReadIsAFailure(t *testing.T) {
	b := newBench(t, sandbox.Off)
	missing := Scan(t.Context(), []Dir{{filepath.Join(b.tools, "missing"), tool.User}}, b.options())
	if missing.State != tool.Complete || len(missing.Problems) != 0 {
		t.Errorf("%v %+v", missing.State, missing.Problems)
	}
	file := b.put("file", "")
	broken := Scan(t.Context(), []Dir{{file, tool.User}}, b.options())
	if broken.State != tool.Failed || len(broken.Problems) != 1 || broken.Problems[0].Reason != ScanFailed {
		t.Errorf("%v %+v", broken.State, broken.Problems)
	}
}

func TestOneThatHangsDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Off)
	b.put("a_hangs", "#!/bin/sh\nexec sleep 60\n")
	b.put("b_stubborn", "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n")
	for _, name := range []string{"c", "d", "e"} {
		b.put(name, sh(name, "", ""))
	}
	o := b.hasty()
	o.Timeout = 5 * time.Second
	set := b.scan(o)
	if want := []string{"c", "d", "e"}; !slices.Equal(set.Names(), want) {
		t.Errorf("tools %v, want %v: %+v", set.Names(), want, set.Problems)
	}
	if got := reasons(set); got["a_hangs"] != SchemaTimeout || got["b_stubborn"] != SchemaTimeout {
		t.Errorf("%v", got)
	}
}

func TestAScanThatIsCancelledFails(t *testing.T) {
	b := newBench(t, sandbox.Off)
	b.put("slow", "#!/bin/sh\nexec sleep 60\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if set := Scan(ctx, []Dir{{b.tools, tool.User}}, b.options()); set.State != tool.Failed {
		t.Errorf("%v", set.State)
	}
}
