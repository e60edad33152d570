package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"ikigai/internal/dialect/wire"
	"ikigai/internal/shell"
)

// program runs ikigai as a person would, in an empty home.
func program(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	home := t.TempDir()
	code = Main(context.Background(), Env{
		Args: args, Environ: []string{"HOME=" + home}, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Dir: home, Home: home,
	})
	return out.String(), errs.String(), code
}

// corpusFile is a corpus in the testdata of the package it is about.
func corpusFile(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func parseLines(t *testing.T, text string) []row {
	t.Helper()
	var all []row
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		r, err := readRow(lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// answered runs a corpus through a debug command and gives its rows, each with
// its answer.
func answered(t *testing.T, corpus string, args ...string) (rows, out []row) {
	t.Helper()
	stdout, stderr, code := program(t, corpus, append([]string{"debug"}, args...)...)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if i := strings.IndexFunc(stdout, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }); i >= 0 {
		t.Errorf("an answer is not plain ASCII: %.80q", stdout[i:])
	}
	rows, out = parseLines(t, corpus), parseLines(t, stdout)
	if len(rows) == 0 || len(rows) != len(out) {
		t.Fatalf("%d answers to %d lines", len(out), len(rows))
	}
	for i := range rows {
		if string(rows[i]["id"]) != string(out[i]["id"]) {
			t.Fatalf("line %d: the answer of %s is to %s", i+1, out[i]["id"], rows[i]["id"])
		}
	}
	return rows, out
}

// want is a text of a row; a missing one is empty.
func (r row) want(name string) string {
	s, err := r.text(name)
	if err != nil {
		return ""
	}
	return s
}

func (r row) alsoOK() []string {
	var list []string
	if r.value("also_ok", &list) != nil {
		return nil
	}
	return list
}

func TestDebugRiskOverItsCorpora(t *testing.T) {
	strength := map[string]int{"read_only": 1, "writes_in_workspace": 2, "network": 3, "unparseable-must-ask": 4, "dangerous": 5}
	for _, file := range []string{"shell/testdata/shell_risk.jsonl", "shell/testdata/own_risk.jsonl"} {
		rows, out := answered(t, corpusFile(t, file), "risk")
		total, needless, weak := map[string]int{}, map[string]int{}, 0
		for i, r := range rows {
			want, got := r.want("verdict"), out[i].want("verdict")
			total[want]++
			if out[i]["parts"] == nil || out[i]["reason"] == nil {
				t.Errorf("%s: the answer lacks parts or reason", r["id"])
			}
			switch {
			case got == want, slices.Contains(r.alsoOK(), got):
			case strength[got] < strength[want]:
				weak++
				t.Errorf("SAFETY %s: got %s, want %s", r["id"], got, want)
			default:
				needless[want]++
			}
		}
		t.Logf("%s: rows %v, weaker %d, stronger %v", file, total, weak, needless)
		for verdict, percent := range map[string]int{"read_only": 3, "writes_in_workspace": 8} {
			if needless[verdict]*100 > total[verdict]*percent {
				t.Errorf("%d of %d rows of %s are asked needlessly", needless[verdict], total[verdict], verdict)
			}
		}
	}
}

func TestDebugRuleOverItsCorpora(t *testing.T) {
	for _, file := range []string{"shell/testdata/shell_rules.jsonl", "shell/testdata/own_rules.jsonl"} {
		rows, out := answered(t, corpusFile(t, file), "rule")
		needless, asked := 0, 0
		for i, r := range rows {
			want, got := string(r["must_match"]), string(out[i]["match"])
			allow := r.want("kind") == "allow"
			switch {
			case got == want:
			case allow == (got == "true") && !allow && shell.Classify(r.want("command"), corpusPlace()).Verdict >= shell.MustAsk:
				asked++
			case allow == (got == "true"):
				t.Errorf("SAFETY %s: match %s, want %s", r["id"], got, want)
			default:
				needless++
			}
		}
		t.Logf("%s: %d rows, %d needless, %d asked instead of denied", file, len(rows), needless, asked)
	}
}

func TestDebugArgsOverItsCorpus(t *testing.T) {
	schemas, err := filepath.Abs("../schema/testdata/malformed_calls.tools.json")
	if err != nil {
		t.Fatal(err)
	}
	rows, out := answered(t, corpusFile(t, "schema/testdata/malformed_calls.jsonl"), "args", "--schemas", schemas)
	repairable, refused, exact := 0, 0, 0
	for i, r := range rows {
		want, got := r.want("outcome"), out[i].want("outcome")
		runs := got == "ok" || got == "repaired"
		if want == "repaired" {
			repairable++
		}
		var wantArgs any
		if err := exactly(r, "args", &wantArgs); err != nil {
			t.Fatal(err)
		}
		var gotArgs any
		if err := exactly(out[i], "args", &gotArgs); err != nil {
			t.Fatal(err)
		}
		switch {
		case runs && got != want && !slices.Contains(r.alsoOK(), got):
			t.Errorf("SAFETY %s: %s, want %s", r["id"], got, want)
		case runs && wantArgs != nil && !reflect.DeepEqual(gotArgs, wantArgs):
			t.Errorf("SAFETY %s: runs with %v, want %v", r["id"], gotArgs, wantArgs)
		case got == want || slices.Contains(r.alsoOK(), got):
			exact++
		case want == "repaired":
			refused++
		default:
			t.Errorf("%s: %s, want %s", r["id"], got, want)
		}
	}
	t.Logf("%d calls: %d as wanted, %d of %d repairable refused", len(rows), exact, refused, repairable)
	if refused*10 > repairable {
		t.Errorf("%d of %d repairable calls are refused", refused, repairable)
	}
}

// exactly reads a value with its numbers as they are written.
func exactly(r row, name string, into *any) error {
	var raw json.RawMessage
	if err := r.value(name, &raw); err != nil || raw == nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

func TestDebugEditOverItsCorpus(t *testing.T) {
	rows, out := answered(t, corpusFile(t, "edit/testdata/edits.jsonl"), "edit")
	exact, accepted := 0, 0
	for i, r := range rows {
		got, code := out[i].want("result"), out[i].want("error")
		switch {
		case code == r.want("error") && (code != "" || got == r.want("result")):
			exact++
		case code != "" && slices.Contains(r.alsoOK(), code), code == "" && slices.Contains(r.alsoOK(), "result:"+got):
			accepted++
		default:
			t.Errorf("%s: got %.60q %s, want %.60q %s", r["id"], got, code, r.want("result"), r.want("error"))
		}
	}
	t.Logf("%d edits: %d exact, %d accepted", len(rows), exact, accepted)
}

func TestDebugURLOverItsCorpus(t *testing.T) {
	rows, out := answered(t, corpusFile(t, "address/testdata/urls.jsonl"), "url")
	exact, wrong, mixed := 0, 0, 0
	for i, r := range rows {
		want, got := r.want("expect"), out[i].want("outcome")
		switch {
		case got == want && out[i].want("dial") == r.want("dial"), got != "allowed" && slices.Contains(r.alsoOK(), got):
			exact++
		case got == "allowed" && want != "allowed":
			t.Errorf("SAFETY %s: allowed at %s", r["id"], out[i].want("dial"))
		case want == "allowed":
			wrong++
		default:
			mixed++
		}
	}
	t.Logf("%d addresses: %d as wanted, %d refused or elsewhere, %d mixed up", len(rows), exact, wrong, mixed)
	if wrong*50 > len(rows) || mixed*20 > len(rows) {
		t.Errorf("%d refused or elsewhere, %d mixed up of %d", wrong, mixed, len(rows))
	}
}

func TestDebugScreenOverItsCorpus(t *testing.T) {
	rows, out := answered(t, corpusFile(t, "clean/testdata/screen.jsonl"), "screen")
	right := 0
	for i, r := range rows {
		model := r.want("raw")
		if r["model"] != nil {
			model = r.want("model")
		}
		shown := out[i].want("shown")
		if strings.ContainsFunc(shown, func(c rune) bool {
			return unicode.IsControl(c) && (c != '\n' && c != '\t' || r.want("where") == "line")
		}) {
			t.Errorf("SAFETY %s: a control character in %.80q", r["id"], shown)
		}
		if shown != r.want("shown") || out[i].want("model") != model {
			t.Errorf("%s: shown %.80q, want %.80q", r["id"], shown, r.want("shown"))
			continue
		}
		right++
	}
	t.Logf("%d texts: %d right", len(rows), right)
}

// A stage is a temp folder with a workspace and an outside, as the corpus of
// paths describes it.
type pathStage struct {
	t   *testing.T
	tmp string
	put *strings.Replacer
}

func newPathStage(t *testing.T) pathStage {
	tmp, err := filepath.EvalSymlinks(t.TempDir())
	s := pathStage{t, tmp, strings.NewReplacer("{TMP}", tmp, "{WS}", tmp+"/ws", "{OUT}", tmp+"/out")}
	s.must(err)
	s.must(os.Mkdir(tmp+"/ws", 0o755))
	s.must(os.Mkdir(tmp+"/out", 0o755))
	return s
}

func (s pathStage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s pathStage) at(name string) string {
	if strings.HasPrefix(name, "{") {
		return s.put.Replace(name)
	}
	return s.tmp + "/ws/" + name
}

func (s pathStage) write(name, content string) {
	s.must(os.MkdirAll(filepath.Dir(name), 0o755))
	s.must(os.WriteFile(name, []byte(content), 0o644))
}

// set does one step of a setup; it reports false for one this machine lacks.
func (s pathStage) set(do map[string]string) bool {
	switch {
	case do["file"] != "":
		s.write(s.at(do["file"]), do["content"])
	case do["file_b64"] != "":
		raw, err := base64.StdEncoding.DecodeString(do["file_b64"])
		s.must(err)
		s.write(s.at(string(raw)), do["content"])
	case do["dir"] != "":
		s.must(os.MkdirAll(s.at(do["dir"]), 0o755))
	case do["symlink"] != "":
		s.must(os.Symlink(s.put.Replace(do["to"]), s.at(do["symlink"])))
	case do["hardlink"] != "":
		s.must(os.Link(s.at(do["to"]), s.at(do["hardlink"])))
	case do["socket"] != "":
		l, err := net.Listen("unix", s.at(do["socket"]))
		s.must(err)
		s.t.Cleanup(func() { l.Close() })
	case do["chmod"] != "":
		mode, err := strconv.ParseUint(do["mode"], 8, 32)
		s.must(err)
		s.must(os.Chmod(s.at(do["chmod"]), fs.FileMode(mode)))
		s.t.Cleanup(func() { os.Chmod(s.at(do["chmod"]), 0o755) })
	case do["fifo"] != "":
		return makeFifo(s.at(do["fifo"])) == nil
	default:
		s.t.Fatalf("unknown step %v", do)
	}
	return true
}

// outside is everything in the temp folder that is not the workspace.
func (s pathStage) outside() string {
	var b strings.Builder
	s.must(filepath.WalkDir(s.tmp, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == s.tmp+"/ws" {
			return fs.SkipDir
		}
		fmt.Fprintf(&b, "%s %s\n", name, d.Type())
		if d.Type().IsRegular() {
			raw, err := os.ReadFile(name)
			s.must(err)
			fmt.Fprintf(&b, "%x\n", raw)
		}
		return nil
	}))
	return b.String()
}

func TestDebugPathOverItsCorpus(t *testing.T) {
	exact, accepted, skipped := 0, 0, 0
	rows := parseLines(t, corpusFile(t, "files/testdata/path_confinement.jsonl"))
	for _, r := range rows {
		t.Run(r.want("id"), func(t *testing.T) {
			if string(r["skip_as_root"]) == "true" && os.Geteuid() == 0 {
				skipped++
				t.Skip("needs a plain user")
			}
			s := newPathStage(t)
			var steps []map[string]string
			s.must(r.value("setup", &steps))
			for _, do := range steps {
				if !s.set(do) {
					skipped++
					t.Skip("this machine has no such file")
				}
			}
			before := s.outside()
			line := fmt.Sprintf(`{"id":%s,"op":%s,"path_b64":%q}`+"\n", r["id"], r["op"], base64Text([]byte(s.put.Replace(r.want("path")))))
			_, out := answered(t, line, "path", "--root", s.tmp+"/ws")
			got, want := out[0].want("outcome"), r.want("expect")
			switch {
			case got == want:
				exact++
			case slices.Contains(r.alsoOK(), got):
				accepted++
			default:
				t.Errorf("%s, want %s: %s", got, want, out[0].want("reason"))
			}
			if s.outside() != before {
				t.Error("SAFETY: the outside changed")
			}
		})
	}
	t.Logf("%d paths: %d exact, %d accepted, %d skipped", len(rows), exact, accepted, skipped)
}

func TestBadLinesAreAnsweredAndTheNextIsRead(t *testing.T) {
	in := strings.Join([]string{
		`{"id":"a","command":"ls"}`,
		`not JSON`,
		``,
		`["a","list"]`,
		`{"id":7}`,
		`{"id":"b","command":5}`,
		`{"id":"c","command_b64":"%%%"}`,
		`{"id":"d","command_gz_b64":"bHM="}`,
		`{"command_b64":"bHM="}`,
		`{"id":"z","command":"rm -rf /"}`, // without a line end
	}, "\n")
	stdout, stderr, code := program(t, in, "debug", "risk")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	out := parseLines(t, stdout)
	if len(out) != 10 {
		t.Fatalf("%d answers to 10 lines:\n%s", len(out), stdout)
	}
	for i, want := range []string{`"a"`, "null", "null", "null", "7", `"b"`, `"c"`, `"d"`, "null", `"z"`} {
		if got := string(out[i]["id"]); got != want {
			t.Errorf("line %d has id %s, want %s", i+1, got, want)
		}
		good := i == 0 || i >= 8
		if failed := out[i]["error"] != nil; failed == good {
			t.Errorf("line %d: %v", i+1, stdout)
		}
	}
}

func TestAMistakeInOneLineSparesTheOthers(t *testing.T) {
	_, err := guarded(row{}, func(row) (any, error) { panic("oh") })
	if err == nil || !strings.Contains(err.Error(), "oh") {
		t.Errorf("got %v", err)
	}
}

func TestEditsPrintWhatIsNotUTF8AsBase64(t *testing.T) {
	if a := edited("\xff"); a.ResultB64 != "/w==" || a.Result != nil {
		t.Errorf("got %+v", a)
	}
	if a := edited(""); a.ResultB64 != "" || a.Result == nil { // an empty file is a result
		t.Errorf("got %+v", a)
	}
}

func TestDebugDecodeOverTheRecordings(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "wire")
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.expect.json"))
	if err != nil || len(files) == 0 {
		t.Skip("the recorded streams are not here: ", dir)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Format, Transport string
			Status            int
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		body, err := os.ReadFile(strings.TrimSuffix(file, "expect.json") + want.Transport)
		if err != nil {
			t.Fatal(err)
		}
		f, err := formatOf(want.Format)
		if err != nil {
			t.Fatal(err)
		}
		var events bytes.Buffer
		e := json.NewEncoder(&events)
		e.SetEscapeHTML(false)
		for _, one := range wire.Events(f, want.Status, slices.Values([][]byte{body})) {
			if err := e.Encode(one); err != nil {
				t.Fatal(err)
			}
		}
		stdout, stderr, code := program(t, string(body), "debug", "decode", "--dialect", want.Format, "--status", strconv.Itoa(want.Status))
		if code != 0 || stdout != events.String() {
			t.Errorf("%s: exit code %d %s\n%s\nwant %s", file, code, stderr, stdout, events.String())
		}
	}
	t.Logf("%d recordings", len(files))
}

func TestDebugEncodeReadsToolsInEveryForm(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tools.json")
	for _, form := range []string{
		`[{"name":"look","description":"Look.","parameters":{"at":{"type":"string","required":true}}}]`,
		`{"name":"look","description":"Look.","parameters":{"type":"object","properties":{"at":{"type":"string"}},"required":["at"]}}`,
		`[{"type":"function","function":{"name":"look","description":"Look.","parameters":{"at":{"type":"string","required":true}}}}]`,
		`{"model":"m","tools":[{"name":"look","description":"Look.","input_schema":{"type":"object","properties":{"at":{"type":"string"}},"required":["at"]}}]}`,
	} {
		if err := os.WriteFile(name, []byte(form), 0o600); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, code := program(t, `{"kind":"user","content":"hi"}`, "debug", "encode", "--dialect", "anthropic", "--model", "m", "--tools", name)
		want := `{"name":"look","description":"Look.","input_schema":{"type":"object","properties":{"at":{"type":"string"}},"required":["at"]`
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit code %d %s\n%s", form, code, stderr, stdout)
		}
	}
}

func TestDebugEncodeSaysWhichEventIsWrong(t *testing.T) {
	_, stderr, code := program(t, "{\"kind\":\"user\",\"content\":\"hi\"}\noops\n", "debug", "encode", "--dialect", "openai", "--model", "m")
	if code != 1 || !strings.Contains(stderr, "event 2") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestDebugRefusesWrongUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		say  string
	}{
		{[]string{"decode"}, "--dialect is missing"},
		{[]string{"decode", "--dialect", "opnai"}, "did you mean openai?"},
		{[]string{"decode", "--dialect", "openai", "--status", "7"}, "no HTTP status"},
		{[]string{"encode", "--dialect", "openai"}, "--model is missing"},
		{[]string{"encode", "--dialect", "openai", "--model", "m", "--tools", "none.json"}, "none.json"},
		{[]string{"args"}, "--schemas is missing"},
		{[]string{"args", "--schemas", "none.json"}, "none.json"},
		{[]string{"path"}, "--root is missing"},
		{[]string{"path", "--root", "none"}, "none"},
		{[]string{"risk", "now"}, "takes no further words"},
		{[]string{"rsik"}, "did you mean risk?"},
		{[]string{"risk", "--jsno"}, "--jsno"},
	} {
		stdout, stderr, code := program(t, "", append([]string{"debug"}, c.args...)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, c.say) {
			t.Errorf("%v: exit code %d, %q, %q", c.args, code, stdout, stderr)
		}
	}
}
