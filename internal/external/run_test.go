package external

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/sandbox"
	"ikigai/internal/tool"
)

func TestACallGoesInAsJSONAndComesOutAsJSON(t *testing.T) {
	b := newBench(t, sandbox.Off)
	b.put("echo", sh("echo", "", `printf '{"got":'; cat; printf '}'`))
	r := b.call(b.only(b.options()), `{"x": "a\u0062c"}`)
	if got := string(r.Envelope()); got != `{"tool_success":true,"result":{"got":{"x":"abc"}}}` {
		t.Errorf("%s", got)
	}
}

func TestArgumentsThatDoNotFitAreRefusedBeforeAnythingRuns(t *testing.T) {
	b := newBench(t, sandbox.Off)
	b.put("need", sh("", `{"name":"need","description":"d","parameters":{"n":{"type":"integer","required":true}}}`, "touch ran"))
	need := b.only(b.options())
	for _, args := range []string{`{}`, `{"n":"many"}`, `[]`, `{"n":1,"n":2}`, `{"n":1,"x":2}`, `nonsense`} {
		if _, err := need.Prepare(t.Context(), b.place, []byte(args)); tool.CodeOf(err, "") != tool.InvalidParams {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestTheWordsOfASeedForATimeout(t *testing.T) {
	b := newBench(t, sandbox.Off)
	b.put("slow", sh("", `{"name":"slow","description":"d","parameters":{},"timeout_seconds":0.3}`, `printf part; echo why >&2; exec sleep 60`))
	r := b.call(b.only(b.options()), `{}`)
	want := `{"tool_success":false,"error":"Tool 'slow' timed out after 0.3s","error_code":"TOOL_TIMEOUT","exit_code":null,"stdout":"part","stderr":"why\n"}`
	if got := string(r.Envelope()); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestACancelledCallKeepsWhatItPrinted(t *testing.T) {
	b := newBench(t, sandbox.Off)
	b.put("slow", sh("slow", "", `printf part; echo now >&2; exec sleep 60`))
	p, err := b.only(b.options()).Prepare(t.Context(), b.place, []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := p.Run(ctx, tool.Grant{}, func(string) { cancel() })
	if r.Failure == nil || r.Failure.Code != tool.CallCancelled || r.Failure.Stdout != "part" {
		t.Errorf("%+v", r.Failure)
	}
}

func TestErrorsOfTheToolPassThrough(t *testing.T) {
	b := newBench(t, sandbox.Off)
	b.put("needs_key", sh("needs_key", "", `echo '{"error":"no key","error_code":"MISSING_CREDENTIALS","help":{"steps":["get one"]}}'`))
	r := b.call(b.only(b.options()), `{}`)
	if r.Failure != nil || r.Code() != "MISSING_CREDENTIALS" || !strings.Contains(string(r.Data), `"steps":["get one"]`) || r.Summary != "no key" {
		t.Errorf("%+v", r)
	}
}

func TestOnlyStandardErrorIsShownLive(t *testing.T) {
	b := newBench(t, sandbox.Off)
	b.put("talks", sh("talks", "", `echo one >&2; echo '{"output":"x"}'; echo two >&2`))
	p, err := b.only(b.options()).Prepare(t.Context(), b.place, []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	var live strings.Builder
	r := p.Run(t.Context(), tool.Grant{}, func(s string) { live.WriteString(s) })
	if live.String() != "one\ntwo\n" || strings.Contains(string(r.Envelope()), "one") {
		t.Errorf("live %q, envelope %s", live.String(), r.Envelope())
	}
}

func TestDisplayIsForTheScreenOnly(t *testing.T) {
	b := newBench(t, sandbox.Off)
	b.put("draws", sh("draws", "", `echo '{"a":1,"display":[{"text":"x"}],"b":{"display":2}}'`))
	r := b.call(b.only(b.options()), `{}`)
	if string(r.Data) != `{"a":1,"b":{"display":2}}` || string(r.Display) != `[{"text":"x"}]` {
		t.Errorf("data %s, display %s", r.Data, r.Display)
	}
}

func TestALongOutputIsShortenedAndStaysWholeInAFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Off)
	b.put("wordy", sh("wordy", "", `printf '{"output":"'; i=0; while [ $i -lt 3000 ]; do printf 'line %s of many, many more than fit\\n' $i; i=$((i+1)); done; echo '","count":3000}'`))
	b.put("listy", sh("listy", "", `printf '{"list":[0'; i=1; while [ $i -lt 20000 ]; do printf ',%s' $i; i=$((i+1)); done; echo ']}'`))
	set := b.scan(b.options())
	for name, want := range map[string]string{"wordy": `"count":3000`, "listy": `"output":"{\"list\":[0,1,`} {
		found, _ := set.Lookup(name)
		r := b.call(found, `{}`)
		if !r.Truncated || !strings.Contains(string(r.Data), want) || len(r.Data) > 60<<10 {
			t.Errorf("%s: truncated %v, %d bytes: %.200s", name, r.Truncated, len(r.Data), r.Data)
		}
		if o, err := readObject(r.Data); err != nil || o.get("full_output") == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAToolSeesItsPlaceAndNoSecret(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "sesame")
	b := newBench(t, sandbox.Off)
	b.put("looks", sh("looks", `{"name":"looks","description":"d","parameters":{},"env":["GITHUB_TOKEN"]}`,
		`printf '{"pwd":"%s","session":"%s","dir":"%s","call":"%s","token":"%s"}' "$PWD" "$IKIGAI_SESSION" "$IKIGAI_SESSION_DIR" "$IKIGAI_CALL" "$GITHUB_TOKEN"`))
	b.place.Call = "call_7"
	o := b.options()
	approved := false
	o.Approved = func(string, [32]byte) bool { return approved }
	looks := b.only(o)
	member := func(name string) string {
		t.Helper()
		got, err := readObject(b.call(looks, `{}`).Data)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Trim(string(got.get(name)), `"`)
	}
	for name, want := range map[string]string{"pwd": b.place.Files.Dir(), "session": b.place.Session, "dir": b.place.Dir, "call": "call_7", "token": ""} {
		if got := member(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	p, err := looks.Prepare(t.Context(), b.place, []byte(`{}`))
	if err != nil || !slices.ContainsFunc(p.Plan.Notes, func(n string) bool { return strings.Contains(n, "GITHUB_TOKEN") }) {
		t.Errorf("%v %v", p.Plan.Notes, err)
	}
	approved = true
	if got := member("token"); got != "sesame" {
		t.Errorf("approved, and the token is %q", got)
	}
}

func TestAToolMayRememberInTheFolderOfTheSession(t *testing.T) {
	b := newBench(t, sandbox.Auto)
	b.put("remembers", sh("remembers", "", `echo x >> "$IKIGAI_SESSION_DIR/memory" && printf '{"n":%s}' "$(wc -l < "$IKIGAI_SESSION_DIR/memory")"`))
	found := b.only(b.options())
	b.call(found, `{}`)
	if r := b.call(found, `{}`); string(r.Data) != `{"n":2}` {
		t.Errorf("%s", r.Envelope())
	}
}

func TestThePlanComesFromWhatTheSchemaMarks(t *testing.T) {
	b := newBench(t, sandbox.Off)
	work := b.place.Files.Dir()
	in := func(names ...string) (all []string) {
		for _, n := range names {
			all = append(all, filepath.Join(work, n))
		}
		return all
	}
	b.put("reader", sh("", `{"name":"reader","description":"d","effects":["read"],"parameters":{"p":{"type":"string","format":"path"},"q":{"type":"string"}}}`, ""))
	b.put("writer", sh("", `{"name":"writer","description":"d","effects":["write"],"parameters":{"all":{"type":"array","items":{"type":"string","format":"path"}}}}`, ""))
	b.put("silent", sh("", `{"name":"silent","description":"d","parameters":{"o":{"type":"object","properties":{"p":{"type":"string","format":"path"}}}}}`, ""))
	b.put("usual", sh("", `{"name":"usual","description":"d","effects":["read"],"parameters":{"p":{"type":"string","format":"path","default":"src"}}}`, ""))
	b.put("shell", sh("", `{"name":"shell","description":"d","effects":["read"],"parameters":{"line":{"type":"string","format":"command"}}}`, ""))
	set := b.scan(b.options())
	for _, c := range []struct {
		name, args    string
		reads, writes []string
		command       string
	}{
		{"reader", `{"p":"a/../b","q":"c"}`, in("b"), nil, ""},
		{"writer", `{"all":["a","b"]}`, nil, in("a", "b"), ""},
		{"silent", `{"o":{"p":"a"}}`, in("a"), in("a"), ""},
		{"usual", `{}`, in("src"), nil, ""},
		{"shell", `{"line":"rm -rf /"}`, nil, nil, "rm -rf /"},
	} {
		found, _ := set.Lookup(c.name)
		p, err := found.Prepare(t.Context(), b.place, []byte(c.args))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if c.args == `{}` && string(p.Args) != `{}` {
			t.Errorf("%s: a default was filled in: %s", c.name, p.Args)
		}
		if !slices.Equal(p.Plan.Reads, c.reads) || !slices.Equal(p.Plan.Writes, c.writes) || p.Plan.Command != c.command {
			t.Errorf("%s: %+v", c.name, p.Plan)
		}
	}
	if shell, _ := set.Lookup("shell"); !shell.Spec().Has(tool.Exec) {
		t.Error("a tool with a command does not count as one that executes")
	}
}

func TestATooDeepOrStrangeAnswerIsNoAnswer(t *testing.T) {
	for _, printed := range []string{
		"", " \n", "{", `{"a":1}{"b":2}`, `{"a":1} x`, "x {}", "[]", `"text"`, "1", "null", "true", `{"a":NaN}`, `{"a":Infinity}`, `{'a':1}`, `{"a":1,}`,
		"{\"a\":\"\xff\"}", "{\"a\":\"\x00\"}", "\x1b[0m{}", strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300),
		`{"a":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + "}",
	} {
		if r, err := answer(tool.Place{}, "x", []byte(printed)); err == nil {
			t.Errorf("%.60q gave %.60s", printed, r.Data)
		}
	}
}

func TestAnAnswerHasOneMeaning(t *testing.T) {
	for printed, want := range map[string]string{
		"\ufeff {\"a\" : 1}\r\n":             `{"a":1}`,
		`{"a":1,"b":2,"a":3}`:                `{"a":3,"b":2}`,
		`{"a":1,"\u0061":3}`:                 `{"a":3}`,
		`{"a":{"b":1,"b":2}}`:                `{"a":{"b":2}}`,
		`{"a":"\ud800"}`:                     `{"a":"` + "\ufffd" + `"}`,
		`{"a":"\ude00\ud83d"}`:               `{"a":"` + "\ufffd\ufffd" + `"}`,
		`{"a":"\ud83d\ude00"}`:               `{"a":"\ud83d\ude00"}`,
		`{"a":"\uD83D\uDE00","n":1e400}`:     `{"a":"\uD83D\uDE00","n":1e400}`,
		`{"big":123456789012345678901}`:      `{"big":123456789012345678901}`,
		`{"x":[],"y":{},"z":[{},[ 1 , 2 ]]}`: `{"x":[],"y":{},"z":[{},[ 1 , 2 ]]}`,
	} {
		r, err := answer(tool.Place{}, "x", []byte(printed))
		if err != nil || string(r.Data) != want {
			t.Errorf("%s gave %s %v, want %s", printed, r.Data, err, want)
		}
	}
}

func TestWhatIsGoneOrCannotStartIsAResult(t *testing.T) {
	b := newBench(t, sandbox.Off)
	path := b.put("fades", sh("fades", "", "echo '{}'"))
	fades := b.only(b.options())
	if err := writeProgram(path, []byte("#!/nonexistent/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if r := b.call(fades, `{}`); r.Failure == nil || r.Failure.Code != tool.ToolCrashed {
		t.Errorf("%s", r.Envelope())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if r := b.call(fades, `{}`); r.Failure == nil || r.Failure.Code != tool.ToolNotFound {
		t.Errorf("%s", r.Envelope())
	}
}

// TestTheCatToolOfTheSeed is the small wrapper around cat with which the seed
// tells its stories: what it is, a missing parameter, a missing file, success.
func TestTheCatToolOfTheSeed(t *testing.T) {
	t.Parallel()
	needs(t, "jq")
	b := newBench(t, sandbox.Auto)
	b.put("cat-file", sh("", `{"name":"cat_file","description":"Print a file","parameters":{"path":{"type":"string","description":"The file","format":"path","required":true}},"returns":{"type":"object","properties":{"output":{"type":"string"}}}}`,
		`path=$(jq -r .path)
if text=$(cat "$path" 2>/dev/null); then jq -cn --arg o "$text" '{output: $o}'
else jq -cn --arg e "File not found: $path" '{error: $e, error_code: "FILE_NOT_FOUND"}'; fi`))
	if err := os.WriteFile(filepath.Join(b.place.Files.Dir(), "hello.txt"), []byte("hello \"world\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cat := b.only(b.options())
	if s := cat.Spec(); s.Name != "cat_file" || s.Description != "Print a file" || !strings.Contains(string(s.Returns.JSON()), "output") {
		t.Errorf("%+v", s)
	}
	if _, err := cat.Prepare(t.Context(), b.place, []byte(`{}`)); tool.CodeOf(err, "") != tool.InvalidParams || !strings.Contains(err.Error(), "path") {
		t.Errorf("%v", err)
	}
	for args, want := range map[string]string{
		`{"path":"hello.txt"}`: `{"tool_success":true,"result":{"output":"hello \"world\""}}`,
		`{"path":"none.txt"}`:  `{"tool_success":true,"result":{"error":"File not found: none.txt","error_code":"FILE_NOT_FOUND"}}`,
	} {
		if got := string(b.call(cat, args).Envelope()); got != want {
			t.Errorf("%s: %s", args, got)
		}
	}
}
