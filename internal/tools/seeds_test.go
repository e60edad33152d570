package tools

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ikigai/internal/sandbox"
	"ikigai/internal/tool"
	"ikigai/internal/tools/internal/stage"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// A performance is a toolset at work: calls in, what the model sees out.
type performance struct {
	*stage.Stage
	t   *testing.T
	set Toolset
	all *tool.Set
}

func perform(t *testing.T, name string, files map[string]string) *performance {
	t.Helper()
	s := set(t, name)
	return &performance{stage.New(t, files), t, s, tool.NewSet(tool.Complete, nil, s.All()...)}
}

func (p *performance) spec(name string) tool.Spec {
	p.t.Helper()
	tl, ok := p.all.Lookup(name)
	if !ok {
		p.t.Fatalf("%s has no tool %s", p.set.Name, name)
	}
	return tl.Spec()
}

func (p *performance) call(name, args string) tool.Result {
	p.t.Helper()
	tl, ok := p.all.Lookup(name)
	if !ok {
		return tool.Fail(tool.Call{Name: name}, tool.ToolNotFound, "%s", tool.NotFound(name, p.all.Names()))
	}
	r := p.Call(tl, args)
	r.Took, r.At = 3*time.Millisecond, time.UnixMilli(1705680000000)
	return r
}

// harnessAnswer is a ToolResult as the model reads it.
type harnessAnswer struct {
	Success  bool    `json:"success"`
	Data     *string `json:"data"`
	Error    *string `json:"error_message"`
	Type     string  `json:"error_type"`
	Metadata struct {
		Millis    int64 `json:"execution_time_ms"`
		Size      int   `json:"data_size_bytes"`
		Timestamp int64 `json:"timestamp"`
	} `json:"metadata"`
}

func (p *performance) harness(name, args string) harnessAnswer {
	p.t.Helper()
	var a harnessAnswer
	if err := json.Unmarshal(p.set.Shape(p.call(name, args)), &a); err != nil {
		p.t.Fatal(err)
	}
	return a
}

func (p *performance) data(name, args string) string {
	p.t.Helper()
	a := p.harness(name, args)
	if !a.Success || a.Data == nil {
		p.t.Fatalf("%s(%s): %s", name, args, *a.Error)
	}
	return *a.Data
}

func (p *performance) fails(name, args, kind string) {
	p.t.Helper()
	if a := p.harness(name, args); a.Success || a.Data != nil || a.Error == nil || a.Type != kind || a.Metadata.Size != 0 {
		p.t.Errorf("%s(%s): %+v, want %s", name, args, a, kind)
	}
}

// parameters compares what a tool takes with what the seed says: name, type,
// required or not.
func (p *performance) parameters(name, want string) {
	p.t.Helper()
	var got []string
	for _, q := range p.spec(name).Parameters.Properties() {
		mark := ""
		if q.Required {
			mark = "!"
		}
		got = append(got, q.Name+":"+q.Type+mark)
	}
	if s := strings.Join(got, " "); s != want {
		p.t.Errorf("%s takes %s, want %s", name, s, want)
	}
}

func TestHarnessResultToTheLetter(t *testing.T) {
	p := perform(t, "localharness", map[string]string{"a": "file contents here"})
	got := string(p.set.Shape(p.call("read_file", `{"path":"a"}`)))
	want := `{"success":true,"data":"1: file contents here","error_message":null,"error_type":"none","metadata":{"execution_time_ms":3,"data_size_bytes":21,"timestamp":1705680000000}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got = string(p.set.Shape(p.call("read_file", `{"path":"config.txt"}`)))
	want = `{"success":false,"data":null,"error_message":"File not found: config.txt","error_type":"not_found","metadata":{"execution_time_ms":3,"data_size_bytes":0,"timestamp":1705680000000}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestHarnessErrorTypes(t *testing.T) {
	for code, want := range map[tool.Code]string{
		tool.FileNotFound: "not_found", tool.InvalidParams: "validation_failed", tool.PermissionDenied: "permission_denied",
		tool.ReadFailed: "io_error", tool.InvalidJSONOutput: "parse_error", tool.ToolCrashed: "internal_error", tool.ToolNotFound: "not_found",
	} {
		var a harnessAnswer
		if err := json.Unmarshal(HarnessResult(tool.Fail(tool.Call{}, code, "x")), &a); err != nil || a.Type != want {
			t.Errorf("%s is %s", code, a.Type)
		}
	}
}

func TestC1FileTree(t *testing.T) {
	p := perform(t, "localharness", map[string]string{"main.zig": "", "src/ui.zig": "", ".git/HEAD": ""})
	p.parameters("get_file_tree", "")
	if s := p.spec("get_file_tree"); s.Risk != tool.Safe || !s.OnlyReads() {
		t.Errorf("%+v", s)
	}
	var files []string
	if err := json.Unmarshal([]byte(p.data("get_file_tree", `{}`)), &files); err != nil || strings.Join(files, " ") != "main.zig src/ui.zig" {
		t.Errorf("%v %v", files, err)
	}
}

func TestC1ALongTreeStaysAnArray(t *testing.T) {
	many := map[string]string{}
	for i := range 4000 {
		many[fmt.Sprintf("folder/with/a/long/name/file_%04d.txt", i)] = ""
	}
	p := perform(t, "localharness", many)
	var files []string
	if err := json.Unmarshal([]byte(p.data("get_file_tree", `{}`)), &files); err != nil {
		t.Fatal(err)
	}
	last := files[len(files)-1]
	if !strings.HasPrefix(last, "[... ") || !strings.Contains(last, "whole list in ") || len(files) > 4000 {
		t.Errorf("%d files, the last is %s", len(files), last)
	}
}

func TestC2List(t *testing.T) {
	p := perform(t, "localharness", map[string]string{"b.txt": "12345", "a.bin": strings.Repeat("x", 3<<20), "tools/": "", ".env": ""})
	p.parameters("ls", "path:string show_hidden:boolean sort_by:string reverse:boolean max_entries:integer")
	if s := p.spec("ls"); s.Risk != tool.Low {
		t.Errorf("the risk of ls is %s", s.Risk)
	}
	table := p.data("ls", `{}`)
	for _, want := range []string{"TYPE", "SIZE", "MODIFIED", "NAME", "FILE  3.0 MB", "FILE  5 B", "DIR", "tools/", "Total: 2 files, 1 directories, 3.0 MB"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if strings.Contains(table, ".env") || !strings.Contains(p.data("ls", `{"show_hidden":true}`), ".env") {
		t.Error("hidden files are shown when they are asked for, and only then")
	}
	order := func(args string) string {
		table := p.data("ls", args)
		if strings.Index(table, "a.bin") < strings.Index(table, "b.txt") {
			return "ab"
		}
		return "ba"
	}
	for args, want := range map[string]string{
		`{"sort_by":"name"}`: "ab", `{"sort_by":"size"}`: "ba", `{"sort_by":"size","reverse":true}`: "ab", `{"reverse":true}`: "ba",
	} {
		if got := order(args); got != want {
			t.Errorf("%s gives %s", args, got)
		}
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(p.Workspace, "b.txt"), old, old); err != nil {
		t.Fatal(err)
	}
	if got := order(`{"sort_by":"modified"}`); got != "ba" {
		t.Errorf("by time: %s", got)
	}
	p.fails("ls", `{"path":"none"}`, "not_found")
	p.fails("ls", `{"path":"/etc"}`, "validation_failed")
	p.fails("ls", `{"path":"../x"}`, "validation_failed")
	p.fails("ls", `{"sort_by":"colour"}`, "validation_failed")
	p.fails("ls", `{"max_entries":1001}`, "validation_failed")
}

func TestC2ShowsFiveHundredEntriesUnlessAskedForMore(t *testing.T) {
	many := map[string]string{}
	for i := range 1100 {
		many[fmt.Sprintf("f%04d", i)] = ""
	}
	p := perform(t, "localharness", many)
	for args, want := range map[string]int{`{}`: 500, `{"max_entries":1000}`: 1000, `{"max_entries":7}`: 7} {
		if got := strings.Count(p.data("ls", args), "FILE"); got != want {
			t.Errorf("%s shows %d entries", args, got)
		}
	}
}

func TestC3ReadFile(t *testing.T) {
	p := perform(t, "localharness", map[string]string{"a.zig": "const x = 1;\n\nfn f() void {}\n", "bin": "\x00\x01", "big": strings.Repeat("x\n", 6<<20)})
	p.parameters("read_file", "path:string!")
	if s := p.spec("read_file"); s.Risk != tool.Medium || !p.set.AskReads {
		t.Errorf("read_file has the risk %s; reads ask: %v", s.Risk, p.set.AskReads)
	}
	if got := p.data("read_file", `{"path":"a.zig"}`); got != "1: const x = 1;\n2: \n3: fn f() void {}\n" {
		t.Errorf("%q", got)
	}
	p.fails("read_file", `{"path":"none"}`, "not_found")
	p.fails("read_file", `{"path":"big"}`, "io_error") // more than 10 MB
	p.fails("read_file", `{"path":"bin"}`, "parse_error")
	p.fails("read_file", `{}`, "validation_failed")
}

func TestC4WriteFile(t *testing.T) {
	p := perform(t, "localharness", nil)
	p.parameters("write_file", "path:string! content:string!")
	if s := p.spec("write_file"); s.Risk != tool.High {
		t.Errorf("the risk of write_file is %s", s.Risk)
	}
	if got := p.data("write_file", `{"path":"d/a.txt","content":"hello"}`); got != "Wrote 5 bytes to d/a.txt" || p.Read("d/a.txt") != "hello" {
		t.Errorf("%q", got)
	}
	p.fails("write_file", `{"path":"/tmp/x","content":""}`, "validation_failed")
	p.fails("write_file", `{"path":"a/../../x","content":""}`, "validation_failed")
	p.fails("write_file", `{"path":"d","content":""}`, "validation_failed")
}

func TestC5ReplaceLines(t *testing.T) {
	p := perform(t, "localharness", map[string]string{"a": "1\n2\n3\n"})
	p.parameters("replace_lines", "path:string! line_start:integer! line_end:integer! new_content:string!")
	if s := p.spec("replace_lines"); s.Risk != tool.High {
		t.Errorf("the risk is %s", s.Risk)
	}
	p.data("read_file", `{"path":"a"}`)
	if got := p.data("replace_lines", `{"path":"a","line_start":2,"line_end":3,"new_content":"x"}`); got != "Replaced 2 lines (2-3) in a" || p.Read("a") != "1\nx\n" {
		t.Errorf("%q", got)
	}
	p.fails("replace_lines", `{"path":"none","line_start":1,"line_end":1,"new_content":""}`, "not_found")
	p.fails("replace_lines", `{"path":"a","line_start":2,"line_end":1,"new_content":""}`, "validation_failed")
	p.fails("replace_lines", `{"path":"a","line_start":1,"line_end":9,"new_content":""}`, "validation_failed")
	p.fails("replace_lines", `{"path":"/a","line_start":1,"line_end":1,"new_content":""}`, "validation_failed")
	p.fails("replace_lines", `{"path":"../a","line_start":1,"line_end":1,"new_content":""}`, "validation_failed")
}

func TestC6InsertLines(t *testing.T) {
	p := perform(t, "localharness", map[string]string{"a": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"})
	p.parameters("insert_lines", "path:string! line_start:integer! line_end:integer! new_content:string!")
	tl, _ := p.all.Lookup("insert_lines")
	plan := p.Plan(tl, `{"path":"a","line_start":5,"line_end":5,"new_content":"new\nlines"}`)
	want := "--- a/a\n+++ b/a\n@@ -2,6 +2,8 @@\n 2\n 3\n 4\n+new\n+lines\n 5\n 6\n 7\n"
	if diff := cmp.Diff(want, plan.Preview); diff != "" {
		t.Errorf("the preview has lines of context before and after:\n%s", diff)
	}
	if got := p.data("insert_lines", `{"path":"a","line_start":10,"line_end":10,"new_content":"10"}`); got != "Inserted 1 lines before line 10 in a" {
		t.Errorf("%q", got)
	}
	if got := p.Read("a"); !strings.HasSuffix(got, "9\n10\n") {
		t.Errorf("%q", got)
	}
	p.fails("insert_lines", `{"path":"a","line_start":1,"line_end":2,"new_content":"x"}`, "validation_failed")
	p.fails("insert_lines", `{"path":"a","line_start":12,"line_end":12,"new_content":"x"}`, "validation_failed")
	p.fails("insert_lines", `{"path":"none","line_start":1,"line_end":1,"new_content":"x"}`, "not_found")
	p.fails("insert_lines", `{"path":"/a","line_start":1,"line_end":1,"new_content":"x"}`, "validation_failed")
}

func TestC7GrepSearch(t *testing.T) {
	p := perform(t, "localharness", map[string]string{
		"a.zig": "pub fn my_init(x: u8) void {\nconst y = 1;\n", "deep/b.md": "FN of the INIT\n", ".config/c": "fn init\n",
		".gitignore": "out/\n", "out/d": "fn init\n", ".git/e": "fn init\n", ".hg/e": "fn init\n", ".svn/e": "fn init\n", ".bzr/e": "fn init\n",
		"bin": "fn init\x00\n",
	})
	p.parameters("grep_search", "pattern:string! file_filter:string max_results:integer include_hidden:boolean ignore_gitignore:boolean")
	if s := p.spec("grep_search"); s.Risk != tool.Low || !strings.Contains(strings.Join(p.set.AskOnce, " "), "grep_search") {
		t.Errorf("grep_search has the risk %s and asks once: %v", s.Risk, p.set.AskOnce)
	}
	for args, want := range map[string]string{
		`{"pattern":"fn*init"}`:                         "2 matches in 2 files\na.zig:1: pub fn my_init(x: u8) void {\ndeep/b.md:1: FN of the INIT",
		`{"pattern":"fn*init","file_filter":"*.zig"}`:   "1 matches in 1 files\na.zig:1: pub fn my_init(x: u8) void {",
		`{"pattern":"fn*init","file_filter":"**/*.md"}`: "1 matches in 1 files\ndeep/b.md:1: FN of the INIT",
		`{"pattern":"FN INIT","include_hidden":true}`:   "1 matches in 1 files [+hidden]\n.config/c:1: fn init",
		`{"pattern":"fn init","ignore_gitignore":true}`: "1 matches in 1 files [+gitignored]\nout/d:1: fn init",
		`{"pattern":"(x: u8)"}`:                         "1 matches in 1 files\na.zig:1: pub fn my_init(x: u8) void {",
		`{"pattern":"nothing"}`:                         "0 matches in 0 files",
		`{"pattern":"fn*init","max_results":1}`:         "1 matches in 1 files\na.zig:1: pub fn my_init(x: u8) void {\n[... more than 1 matches: narrow the pattern or raise max_results]",
		`{"pattern":"INIT","include_hidden":true,"ignore_gitignore":true}`: "4 matches in 4 files [+hidden] [+gitignored]\n" +
			".config/c:1: fn init\na.zig:1: pub fn my_init(x: u8) void {\ndeep/b.md:1: FN of the INIT\nout/d:1: fn init",
	} {
		if diff := cmp.Diff(want, p.data("grep_search", args)); diff != "" {
			t.Errorf("%s:\n%s", args, diff)
		}
	}
	p.fails("grep_search", `{"pattern":""}`, "validation_failed")
	p.fails("grep_search", `{"pattern":"x","max_results":1001}`, "validation_failed")
	p.fails("grep_search", `{}`, "validation_failed")
}

func TestC7ShowsTwoHundredResultsUnlessAskedForMore(t *testing.T) {
	p := perform(t, "localharness", map[string]string{"a": strings.Repeat("hit\n", 1200)})
	for args, want := range map[string]int{`{"pattern":"hit"}`: 200, `{"pattern":"hit","max_results":1000}`: 1000} {
		if got := strings.Count(p.data("grep_search", args), "a:"); got != want {
			t.Errorf("%s gives %d results", args, got)
		}
	}
}

// What does not fit into an answer can be read on, strict paths or not.
func TestHarnessOutputsAreReadOn(t *testing.T) {
	p := perform(t, "localharness", map[string]string{"a": strings.Repeat(strings.Repeat("hit ", 30)+"\n", 1200)})
	found := p.data("grep_search", `{"pattern":"hit","max_results":1000}`)
	_, rest, _ := strings.Cut(found, "whole output in ")
	name, _, ok := strings.Cut(rest, ": file_read")
	if !ok {
		t.Fatalf("nothing was left out of %d bytes", len(found))
	}
	if got := p.data("file_read", fmt.Sprintf(`{"path":%q,"offset":500,"limit":1}`, name)); !strings.HasPrefix(got, "a:499: hit") {
		t.Errorf("%q", got)
	}
}

func TestC8Time(t *testing.T) {
	p := perform(t, "localharness", nil)
	p.parameters("get_current_time", "")
	if at, err := time.Parse(time.RFC3339, p.data("get_current_time", `{}`)); err != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("%v %v", at, err)
	}
}

func TestC9WorkingDirectory(t *testing.T) {
	p := perform(t, "localharness", nil)
	p.parameters("get_working_directory", "")
	if got := p.data("get_working_directory", `{}`); got != p.Workspace || !filepath.IsAbs(got) {
		t.Errorf("%q", got)
	}
}

func TestC10To12Tasks(t *testing.T) {
	p := perform(t, "localharness", nil)
	p.parameters("add_task", "content:string!")
	p.parameters("list_tasks", "")
	p.parameters("update_task", "task_id:string! status:string!")
	if got := p.data("list_tasks", `{}`); got != "[]" {
		t.Errorf("%q", got)
	}
	for i, content := range []string{"Analyze current structure", "Design module boundaries"} {
		if got := p.data("add_task", fmt.Sprintf(`{"content":%q}`, content)); got != fmt.Sprintf("task_%d", i+1) {
			t.Errorf("%q", got)
		}
	}
	if got := p.data("update_task", `{"task_id":"task_1","status":"in_progress"}`); got != "Task task_1 is now in_progress" {
		t.Errorf("%q", got)
	}
	want := `[{"id":"task_1","status":"in_progress","content":"Analyze current structure"},{"id":"task_2","status":"pending","content":"Design module boundaries"}]`
	if got := p.data("list_tasks", `{}`); got != want {
		t.Errorf("%s", got)
	}
	p.fails("update_task", `{"task_id":"task_9","status":"completed"}`, "not_found")
	p.fails("update_task", `{"task_id":"task_1","status":"done"}`, "validation_failed")
	for _, name := range []string{"add_task", "list_tasks", "update_task"} {
		if s := p.spec(name); s.Risk != tool.Safe {
			t.Errorf("the risk of %s is %s", name, s.Risk)
		}
	}
	tl, _ := p.all.Lookup("add_task")
	if plan := p.Plan(tl, `{"content":"x"}`); len(plan.Writes) != 1 || filepath.Dir(plan.Writes[0]) != p.Dir {
		t.Errorf("it writes %v and not the session's own folder alone", plan.Writes)
	}
}

// swebash: the definitions are those of the seed to the letter.

func swebash(t *testing.T, files map[string]string) *performance {
	t.Helper()
	p := perform(t, "swebash", files)
	plain, err := sandbox.New(sandbox.Options{Mode: sandbox.Off, Roots: []string{p.Workspace}, Temp: os.TempDir(), Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { plain.Close() })
	p.Start = plain.Start
	return p
}

func (p *performance) text(name, args string) string { return string(p.set.Shape(p.call(name, args))) }

func TestSwebashDefinitionsToTheLetter(t *testing.T) {
	p := swebash(t, nil)
	raw, err := os.ReadFile("testdata/swebash_definitions.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []struct {
		Name, Description string
		Parameters        any
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		s := p.spec(w.Name)
		var got any
		if err := json.Unmarshal(s.Parameters.JSON(), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w.Parameters, got); diff != "" || s.Description != w.Description {
			t.Errorf("%s: %s\n%s", w.Name, s.Description, diff)
		}
	}
}

func TestD8To10Filesystem(t *testing.T) {
	p := swebash(t, map[string]string{"a.txt": "hello\n", "d/b": "", "latin": "caf\xe9\n", "bin": "\x00", "big": strings.Repeat("x", 1<<20+1), "full": strings.Repeat("x", 1<<20)})
	for _, c := range []struct{ args, want string }{
		{`{"operation":"read","path":"a.txt"}`, `{"content":"hello\n","size":6}`},
		{`{"operation":"list","path":"d"}`, `{"entries":[{"name":"b","type":"file"}],"count":1}`},
		{`{"operation":"exists","path":"a.txt"}`, `{"exists":true}`},
		{`{"operation":"exists","path":"none"}`, `{"exists":false}`},
		{`{"operation":"read","path":"none"}`, `Error: Execution failed: File not found: none`},
		{`{"operation":"metadata","path":"none"}`, `Error: Execution failed: File not found: none`},
	} {
		if got := p.text("filesystem", c.args); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.args, got, c.want)
		}
	}
	absolute := fmt.Sprintf(`{"operation":"read","path":%q}`, filepath.Join(p.Workspace, "a.txt"))
	if got := p.text("filesystem", absolute); !strings.Contains(got, "hello") {
		t.Errorf("an absolute path inside: %s", got)
	}
	if got := p.text("filesystem", `{"operation":"metadata","path":"a.txt"}`); !strings.Contains(got, `"size":6`) || !strings.Contains(got, `"modified":"`) || !strings.Contains(got, `"permissions":"-rw`) {
		t.Errorf("%s", got)
	}
	for args, want := range map[string]string{
		`{"operation":"read","path":"big"}`:              "Error: Execution failed: big has 1048577 bytes",
		`{"operation":"read","path":"latin"}`:            "Error: Execution failed: latin is not UTF-8",
		`{"operation":"read","path":"bin"}`:              "Error: Execution failed: bin is a binary file",
		`{"operation":"read","path":"../../etc/passwd"}`: "Error: Permission denied: ",
		`{"operation":"read","path":"/etc/shadow"}`:      "Error: Permission denied: ",
		`{"operation":"write","path":"a.txt"}`:           "Error: Invalid arguments: ",
		`{"path":"a.txt"}`:                               "Error: Invalid arguments: ",
	} {
		if got := p.text("filesystem", args); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", args, got)
		}
	}
	if r := p.call("filesystem", `{"operation":"read","path":"full"}`); !r.OK() {
		t.Errorf("a file of exactly 1 MB: %.200s", r.Data)
	}
	if s := p.spec("filesystem"); !s.OnlyReads() {
		t.Errorf("it has the effects %v", s.Effects)
	}
}

func TestD11To13ExecuteCommand(t *testing.T) {
	p := swebash(t, nil)
	for args, want := range map[string]string{
		`{"command":"echo out; echo err >&2; exit 2"}`: `{"stdout":"out","stderr":"err","exit_code":2}`,
		`{"command":"sleep 60","timeout_seconds":1}`:   `Error: Execution failed: Tool 'bash' timed out after 1s`,
		`{"command":"true","timeout_seconds":301}`:     `Error: Invalid arguments: timeout_seconds is 301; at most 300 are possible`,
		`{"command":""}`: `Error: Invalid arguments: command is empty`,
		`{"command":"` + strings.Repeat("x", 32<<10+1) + `"}`: `Error: Invalid arguments: command has 32769 bytes, at most 32768 are taken; put it into a file and run that`,
	} {
		if got := p.text("execute_command", args); got != want {
			t.Errorf("%.60s\ngot  %s\nwant %s", args, got, want)
		}
	}
	tl, _ := p.all.Lookup("execute_command")
	if plan := p.Plan(tl, `{"command":"x"}`); p.Limits.Deadline(tl.Spec(), plan) != 30*time.Second || plan.Command != "x" {
		t.Errorf("%+v", plan)
	}
	if plan := p.Plan(tl, `{"command":"x","timeout_seconds":300}`); plan.Timeout != 300*time.Second {
		t.Errorf("%+v", plan)
	}
	r := p.call("execute_command", `{"command":"head -c 300000 /dev/zero | tr '\\0' x; head -c 300000 /dev/zero | tr '\\0' y >&2"}`)
	var out struct{ Stdout, Stderr string }
	if err := json.Unmarshal(r.Data, &out); err != nil || len(out.Stdout)+len(out.Stderr) > 100<<10 || !r.Truncated {
		t.Errorf("%d and %d bytes of output, truncated: %v, %v", len(out.Stdout), len(out.Stderr), r.Truncated, err)
	}
}

// D14: what must be confirmed is judged by the command of the plan, which stands
// there as it will run.
func TestD14TheCommandIsPlannedForConfirmation(t *testing.T) {
	p := swebash(t, nil)
	tl, _ := p.all.Lookup("execute_command")
	for _, command := range []string{"rm -rf x", "sudo ls", "dd if=/dev/zero of=x", "mkfs /dev/x"} {
		if plan := p.Plan(tl, fmt.Sprintf(`{"command":%q}`, command)); plan.Command != command || !tl.Spec().Has(tool.Exec) {
			t.Errorf("%s is planned as %+v", command, plan)
		}
	}
}

func TestD3ErrorTexts(t *testing.T) {
	p := swebash(t, nil)
	for _, c := range []struct {
		r    tool.Result
		want string
	}{
		{tool.Fail(tool.Call{}, tool.InvalidParams, "x"), "Error: Invalid arguments: x"},
		{tool.Fail(tool.Call{}, tool.ToolCrashed, "x"), "Error: Execution failed: x"},
		{tool.Fail(tool.Call{}, tool.PermissionDenied, "x"), "Error: Permission denied: x"},
	} {
		if got := string(SwebashResult(c.r)); got != c.want {
			t.Errorf("%s", got)
		}
	}
	if got := p.text("filesytem", `{}`); !strings.HasPrefix(got, "Error: Tool not found: ") || !strings.Contains(got, "filesystem") {
		t.Errorf("%s", got)
	}
}

func TestD15WebSearchParameters(t *testing.T) {
	p := swebash(t, nil)
	p.parameters("web_search", "query:string! num_results:integer")
	for args, want := range map[string]string{
		`{}`:           "Error: Invalid arguments: ",
		`{"query":""}`: "Error: Invalid arguments: ",
		`{"query":"` + strings.Repeat("é", 501) + `"}`: "Error: Invalid arguments: query has 501 characters",
	} {
		if got := p.text("web_search", args); !strings.HasPrefix(got, want) {
			t.Errorf("%s", got)
		}
	}
	tl, _ := p.all.Lookup("web_search")
	if plan := p.Plan(tl, `{"query":"x"}`); strings.Join(plan.Hosts, "") != "html.duckduckgo.com" {
		t.Errorf("it asks %v", plan.Hosts)
	}
}
