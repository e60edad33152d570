package tools

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/tools/internal/stage"
)

func set(t *testing.T, name string) Toolset {
	t.Helper()
	s, err := Set(name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func names(list []tool.Tool) []string {
	var all []string
	for _, tl := range list {
		all = append(all, tl.Spec().Name)
	}
	return all
}

func TestToolsetsOfferWhatTheyPromise(t *testing.T) {
	for name, want := range map[string]string{
		"ikigai": "bash file_edit file_read file_write glob grep",
		"default": "add_task bash file_edit file_info file_read file_write get_current_time get_file_tree get_working_directory glob grep " +
			"insert_lines list_tasks ls replace_lines update_task web_search",
		"localharness": "add_task get_current_time get_file_tree get_working_directory grep_search insert_lines list_tasks ls read_file " +
			"replace_lines update_task write_file",
		"swebash": "execute_command filesystem web_search",
	} {
		got := names(set(t, name).Tools)
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s offers %v", name, got)
		}
	}
}

func TestLimitsOfTheSeeds(t *testing.T) {
	for name, want := range map[string]Limits{"default": {}, "ikigai": {}, "localharness": {10, 15}, "swebash": {10, 10}} {
		if got := set(t, name).Limits; got != want {
			t.Errorf("%s has the limits %+v, want %+v", name, got, want)
		}
	}
}

// What has to be asked for by name is neither offered nor understood, under none
// of its names.
func TestWebFetchIsOffUntilItIsEnabled(t *testing.T) {
	known := func(s Toolset, name string) bool { return slices.Contains(names(s.All()), name) }
	for name := range natures {
		s := set(t, name)
		if known(s, "web_fetch") || known(s, "WebFetch") || known(s, "fetch_url") {
			t.Errorf("%s understands web_fetch", name)
		}
		on, err := Set(name, Options{Fetch: true})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(names(on.Tools), "web_fetch") || !known(on, "WebFetch") {
			t.Errorf("%s does not offer web_fetch when it is enabled", name)
		}
	}
}

func TestJobToolsWaitForAJob(t *testing.T) {
	for name, want := range map[string]string{"default": "job_output job_kill", "ikigai": "job_output job_kill", "localharness": "", "swebash": ""} {
		s := set(t, name)
		if got := strings.Join(names(s.Jobs), " "); got != want {
			t.Errorf("%s offers %q once a job runs", name, got)
		}
		if slices.Contains(names(s.Tools), "job_output") {
			t.Errorf("%s offers job_output before", name)
		}
	}
}

// Every set can look back, also one from a file and one that may read no files:
// but only once there is something to look for, and under one name.
func TestThePastIsEverywhereAndWaits(t *testing.T) {
	own := filepath.Join(t.TempDir(), "set.json")
	if err := os.WriteFile(own, []byte(`["file_read"]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(slices.Collect(maps.Keys(natures)), own) {
		s := set(t, name).Only(func(s tool.Spec) bool { return !s.Has(tool.Read) })
		if got := names(s.Past); !slices.Equal(got, []string{"recall"}) {
			t.Errorf("%s offers %v of the past", name, got)
		}
		if slices.Contains(names(s.Tools), "recall") || !slices.Contains(names(s.All()), "recall") {
			t.Errorf("%s offers %v and understands %v", name, names(s.Tools), names(s.All()))
		}
	}
	if err := os.WriteFile(own, []byte(`["file_read","recall"]`), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := set(t, own); len(s.Past) != 0 || strings.Join(names(s.Tools), " ") != "file_read recall" {
		t.Errorf("what a file asks for is offered as %v, and of the past %v", names(s.Tools), names(s.Past))
	}
}

// Whatever a set is made of: where paths shall stay below the working folder, no
// tool under no name leads out of it.
func TestAStrictSetIsStrictUnderAllNames(t *testing.T) {
	own := filepath.Join(t.TempDir(), "set.json")
	if err := os.WriteFile(own, []byte(`["file_read","job_output"]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(slices.Collect(maps.Keys(natures)), own) {
		s, err := Set(name, Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, tl := range slices.Concat(s.Tools, s.Jobs, s.Past) {
			if reflect.TypeOf(tl) != reflect.TypeOf(toolkit.Strict(nil)) {
				t.Errorf("%s offers %s, which is not strict", name, tl.Spec().Name)
			}
		}
		for _, a := range s.Also {
			if reflect.TypeOf(a.Tool) != reflect.TypeOf(toolkit.Strict(nil)) {
				t.Errorf("%s understands %s, which is not strict", name, a.Name.Name)
			}
		}
	}
	s, err := Set(own, Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	if r := stage.New(t, nil).Call(s.Tools[0], `{"path":"../a.txt"}`); r.Code() != tool.InvalidPath {
		t.Errorf("a set from a file leads upwards: %s", r.Envelope())
	}
}

// A name that two tools share says in each of them, but one, which calls it means.
func TestSharedNamesAreTold(t *testing.T) {
	own := map[string]bool{}
	for _, tl := range every() {
		own[tl.Spec().Name] = true
	}
	rest := map[string]string{}
	for _, l := range table(Options{}) {
		name := l.tool.Spec().Name
		for _, a := range l.names() {
			if a.Set != "" || a.When != "" {
				continue
			}
			if other := rest[a.Name.Name]; other != "" || own[a.Name.Name] {
				t.Errorf("%s is a name of %s, and of %q already", a.Name.Name, name, other)
			}
			rest[a.Name.Name] = name
		}
	}
	t.Logf("%d names lead to %d tools", len(rest), len(own))
}

func TestASetUnderstandsNoNameTwice(t *testing.T) {
	for name := range natures {
		seen := map[string]bool{}
		for _, n := range names(set(t, name).All()) {
			if seen[n] {
				t.Errorf("%s has %s twice", name, n)
			}
			seen[n] = true
		}
	}
}

// A set limits what can be done: no name leads past it.
func TestASetDoesNotUnderstandWhatItCannotDo(t *testing.T) {
	for name, unknown := range map[string]string{
		"localharness": "bash execute_command file_edit edit_file str_replace web_search shell glob",
		"swebash":      "file_write write_file create_file file_edit replace_lines glob",
		"ikigai":       "web_search google_web_search",
	} {
		all := names(set(t, name).All())
		for _, n := range strings.Fields(unknown) {
			if slices.Contains(all, n) {
				t.Errorf("%s understands %s", name, n)
			}
		}
	}
}

// A model that guesses a familiar name succeeds, with the arguments it knows.
func TestFamiliarNamesAreUnderstood(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"read_file", `{"path":"a.txt"}`, `"output":"one\ntwo\nthree\n"`},
		{"read_file", `{"absolute_path":"a.txt","offset":2,"limit":1}`, `"output":"two\n"`},
		{"read_file", `{"target_file":"a.txt","start_line_one_indexed":2,"end_line_one_indexed_inclusive":3,"should_read_entire_file":false}`, `"output":"two\nthree\n"`},
		{"Read", `{"file_path":"a.txt"}`, `one`},
		{"view", `{"path":"a.txt","view_range":[3,3]}`, `"output":"three\n"`},
		{"str_replace_editor", `{"command":"view","path":"a.txt","view_range":[1,-1]}`, `"output":"one\ntwo\nthree\n"`},
		{"str_replace_editor", `{"command":"create","path":"n.txt","file_text":"x"}`, `Wrote 1 bytes to n.txt`},
		{"str_replace_editor", `{"command":"str_replace","path":"a.txt","old_str":"two","new_str":"2"}`, `"replacements":1`},
		{"str_replace_editor", `{"command":"insert","path":"a.txt","insert_line":0,"new_str":"zero"}`, `Inserted 1 lines before line 1`},
		{"str_replace_editor", `{"command":"undo_edit","path":"a.txt"}`, `INVALID_PARAMS`},
		{"str_replace_based_edit_tool", `{"command":"view","path":"a.txt"}`, `one`},
		{"write_file", `{"file_path":"n.txt","content":"x"}`, `Wrote 1 bytes`},
		{"create_file", `{"path":"n.txt","contents":"x"}`, `Wrote 1 bytes`},
		{"Write", `{"file_path":"n.txt","content":"x"}`, `Wrote 1 bytes`},
		{"str_replace", `{"path":"a.txt","old_str":"two","new_str":"2"}`, `"replacements":1`},
		{"edit_file", `{"path":"a.txt","edits":[{"oldText":"two","newText":"2"}]}`, `"replacements":1`},
		{"Edit", `{"file_path":"a.txt","old_string":"two","new_string":"2","replace_all":false}`, `"replacements":1`},
		{"MultiEdit", `{"file_path":"a.txt","edits":[{"old_string":"one","new_string":"1"},{"old_string":"two","new_string":"2"}]}`, `"replacements":2`},
		{"replace", `{"file_path":"a.txt","old_string":"two","new_string":"2","expected_replacements":1}`, `"replacements":1`},
		{"grep_search", `{"pattern":"TWO"}`, `a.txt:2: two`},
		{"grep_search", `{"query":"^tw.$","include_pattern":"*.txt"}`, `a.txt:2: two`},
		{"Grep", `{"pattern":"TWO","-i":true,"-C":1,"output_mode":"content","glob":"*.txt"}`, `a.txt-1- one\na.txt:2: two\na.txt-3- three`},
		{"search_file_content", `{"pattern":"tw","include":"*.txt"}`, `a.txt:2: two`},
		{"search_files", `{"path":".","regex":"thr.e"}`, `a.txt:3: three`},
		{"search_files", `{"path":".","pattern":"*.txt"}`, `a.txt\nsub/b.txt`},
		{"file_search", `{"query":"b.t"}`, `sub/b.txt`},
		{"Glob", `{"pattern":"**/*.txt"}`, `"count":2`},
		{"list_directory", `{"dir_path":"sub"}`, `b.txt`},
		{"list_dir", `{"target_directory":"."}`, `sub/`},
		{"list_files", `{"path":".","recursive":true}`, `["a.txt`},
		{"list_files", `{"path":".","recursive":false}`, `NAME`},
		{"list_files", `{"path":"."}`, `NAME`},
		{"LS", `{"path":"."}`, `NAME`},
		{"directory_tree", `{"path":"sub"}`, `["b.txt"]`},
		{"get_file_info", `{"path":"a.txt"}`, `"size":14`},
		{"filesystem", `{"operation":"read","path":"a.txt"}`, `one`},
		{"filesystem", `{"operation":"list","path":"sub"}`, `b.txt`},
		{"filesystem", `{"operation":"exists","path":"none"}`, `"exists":false`},
		{"filesystem", `{"operation":"metadata","path":"a.txt"}`, `"size":14`},
		{"pwd", `{}`, `"output":"/`},
		{"current_time", `{}`, `"output":"2`},
		{"create_task", `{"title":"x"}`, `task_1`},
		{"insert_line", `{"path":"a.txt","insert_line":3,"new_str":"four"}`, `before line 4`},
	} {
		s := stage.New(t, map[string]string{"a.txt": "one\ntwo\nthree\n", "sub/b.txt": "b\n"})
		all := tool.NewSet(tool.Complete, nil, set(t, "default").All()...)
		tl, ok := all.Lookup(c.name)
		if !ok {
			t.Errorf("%s is not understood", c.name)
			continue
		}
		if got := string(s.Call(tl, c.args).Envelope()); !strings.Contains(got, strings.Trim(jsonText(c.want), `"`)) && !strings.Contains(got, c.want) {
			t.Errorf("%s(%s)\ngot  %s\nwant %s", c.name, c.args, got, c.want)
		}
	}
}

// jsonText is a text as it stands inside a JSON string.
func jsonText(s string) string {
	raw, _ := tool.Encode(s) // a string always encodes
	return string(raw)
}

// The parameters of commands are mapped so that what is judged is what runs.
func TestCommandsUnderOtherNames(t *testing.T) {
	s := stage.New(t, nil)
	all := tool.NewSet(tool.Complete, nil, set(t, "default").All()...)
	for _, c := range []struct{ name, args, command, timeout string }{
		{"execute_command", `{"command":"ls -l"}`, "ls -l", "0s"},
		{"run_shell_command", `{"command":"ls","description":"look","directory":"src dir"}`, "cd 'src dir' && {\nls\n}", "0s"},
		{"shell", `{"command":["bash","-lc","a | b"],"timeout_ms":2500}`, "a | b", "3s"},
		{"shell", `{"command":["git","log","--format=%s","it's"]}`, `git log '--format=%s' 'it'\''s'`, "0s"},
		{"Bash", `{"command":"make","timeout":120000,"description":"build"}`, "make", "2m0s"},
		{"Bash", `{"command":"make","timeout":600000}`, "make", "5m0s"},
		{"run_terminal_cmd", `{"command":"make","is_background":false,"explanation":"x"}`, "make", "0s"},
	} {
		tl, ok := all.Lookup(c.name)
		if !ok {
			t.Errorf("%s is not understood", c.name)
			continue
		}
		p := s.Plan(tl, c.args)
		if p.Command != c.command || p.Timeout.String() != c.timeout {
			t.Errorf("%s(%s) runs %q within %v", c.name, c.args, p.Command, p.Timeout)
		}
		if lead, ok := tl.(interface {
			Leads(json.RawMessage) tool.Tool
		}); !ok || lead.Leads(json.RawMessage(c.args)).Spec().Name != "bash" {
			t.Errorf("a rule about bash does not reach %s", c.name)
		}
	}
}

// Whoever judges a call can ask which tool it really is.
func TestEveryNameLeadsToItsTool(t *testing.T) {
	all := tool.NewSet(tool.Complete, nil, set(t, "default").All()...)
	for _, c := range []struct{ name, args, want string }{
		{"read_file", `{"path":"x"}`, "file_read"},
		{"str_replace_editor", `{"command":"view","path":"x"}`, "file_read"},
		{"str_replace_editor", `{"command":"create","path":"x"}`, "file_write"},
		{"filesystem", `{"operation":"list","path":"x"}`, "ls"},
		{"search_files", `{"regex":"x"}`, "grep"},
	} {
		tl, _ := all.Lookup(c.name)
		if got := tl.(interface {
			Leads(json.RawMessage) tool.Tool
		}).Leads(json.RawMessage(c.args)).Spec().Name; got != c.want {
			t.Errorf("%s(%s) leads to %s", c.name, c.args, got)
		}
	}
	// Until the arguments are read, a shared name may do all that its tools may do.
	tl, _ := all.Lookup("str_replace_editor")
	if s := tl.Spec(); !s.Has(tool.Write) || s.OnlyReads() {
		t.Errorf("str_replace_editor has the effects %v", s.Effects)
	}
}

func TestNamesAreListedWithTheirTool(t *testing.T) {
	got := set(t, "default").Names()
	for name, of := range map[string]string{"read_file": "file_read", "execute_command": "bash", "list_directory": "ls", "search_web": "web_search"} {
		if !slices.Contains(got[of], name) {
			t.Errorf("%s is no name of %s: %v", name, of, got[of])
		}
	}
	if got := set(t, "localharness").Names(); !slices.Contains(got["read_file"], "file_read") {
		t.Errorf("the names of read_file are %v", got["read_file"])
	}
}

func TestAToolsetFromAFile(t *testing.T) {
	dir := t.TempDir()
	write := func(content string) string {
		name := filepath.Join(dir, "set.json")
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	s := set(t, write(`["file_read","grep_search","web_fetch"]`))
	if got := strings.Join(names(s.Tools), " "); got != "file_read grep_search web_fetch" {
		t.Errorf("it offers %s", got)
	}
	all := names(s.All())
	if !slices.Contains(all, "read_file") || slices.Contains(all, "bash") || slices.Contains(all, "shell") {
		t.Errorf("it understands %v", all)
	}
	for content, want := range map[string]string{
		`["bahs"]`: `did you mean`, `{"tools":[]}`: "a JSON list", `[`: "a JSON list",
	} {
		if _, err := Set(write(content), Options{}); err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) {
			t.Errorf("%s: %v", content, err)
		}
	}
	if _, err := Set("defualt", Options{}); err == nil || !strings.Contains(err.Error(), "default, ikigai, localharness, swebash") {
		t.Errorf("an unknown set: %v", err)
	}
}

func TestOnlyLeavesOutUnderAllNames(t *testing.T) {
	s := set(t, "default").Only(func(s tool.Spec) bool { return !s.Has(tool.Exec) && !s.Has(tool.Net) })
	for _, n := range []string{"bash", "shell", "execute_command", "web_search", "search_web"} {
		if slices.Contains(names(s.All()), n) {
			t.Errorf("%s is still there", n)
		}
	}
	if !slices.Contains(names(s.All()), "read_file") {
		t.Error("read_file is gone")
	}
}

// Who may run programs and read no files can still look after the programs.
func TestJobsStayWithWhatStartsThem(t *testing.T) {
	jobs := []string{"job_output", "job_kill", "BashOutput"}
	without := func(e tool.Effect) []string {
		return names(set(t, "default").Only(func(s tool.Spec) bool { return !s.Has(e) }).All())
	}
	for _, n := range jobs {
		if !slices.Contains(without(tool.Read), n) {
			t.Errorf("%s went with the files", n)
		}
		if slices.Contains(without(tool.Exec), n) {
			t.Errorf("%s stays where nothing can be started", n)
		}
	}
}
