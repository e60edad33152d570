package view

import (
	"encoding/json"
	"strings"
	"testing"

	"ikigai/internal/tool"
)

func TestEveryArgumentIsDrawn(t *testing.T) {
	for args, want := range map[string]string{
		`{"command":"ls -l"}`:                                                       "ls -l",
		`{"path":"a.go","limit":3,"deep":true}`:                                     "a.go limit=3 deep=true",
		`{"path":"a.go","content":"x\ny\n"}`:                                        "a.go|content:|x|y",
		`{"path":"a.go","edits":[{"old_text":"a\nb","new_text":"something else"}]}`: "a.go|edits:|-a|-b|+something else",
		`{}`:                       "",
		`not json`:                 "not json",
		`{"a":"\u001b[2J\u202ex"}`: "<U+202E>x",
	} {
		head, body := Arguments(json.RawMessage(args))
		got := []string{head.String()}
		for _, l := range body {
			got = append(got, l.String())
		}
		if joined := strings.Join(got, "|"); joined != want {
			t.Errorf("%s is %q, want %q", args, joined, want)
		}
	}
}

func TestOutputIsDrawnByItsShape(t *testing.T) {
	for data, want := range map[string]string{
		`{"output":"a\nb","exit_code":1}`:                        "a|b",
		`{"stdout":"a","stderr":"b"}`:                            "a|b",
		`{"rows":[1,2]}`:                                         "{|  \"rows\": [|    1,|    2|  ]|}",
		`{"error":"no such file","error_code":"FILE_NOT_FOUND"}`: "no such file",
		`"text"`: `"text"`,
	} {
		var got []string
		for _, l := range Output(tool.Result{Data: json.RawMessage(data)}) {
			got = append(got, l.String())
		}
		if joined := strings.Join(got, "|"); joined != want {
			t.Errorf("%s is %q, want %q", data, joined, want)
		}
	}
}

func TestFoldSaysHowMuchIsLeftOut(t *testing.T) {
	lines := make([]Line, 20)
	head, tail, left := Fold(lines, 5)
	if len(head) != 3 || len(tail) != 2 || left != 15 {
		t.Errorf("%d, %d, %d left out", len(head), len(tail), left)
	}
	if _, _, left := Fold(lines[:6], 5); left != 0 {
		t.Error("one line is left out to say that one line is left out")
	}
	if _, _, left := Fold(lines, 0); left != 0 {
		t.Error("0 means all")
	}
}

func TestAFailureNamesItsType(t *testing.T) {
	c := tool.Call{ID: "1", Name: "file_read", Args: json.RawMessage(`{"path":"x"}`)}
	l := Outcome(c, tool.Fail(c, tool.FileNotFound, "no file x"))
	if got := l.String(); got != "✗ file_read  x  not_found: no file x" {
		t.Errorf("got %q", got)
	}
}

func TestADiffWithItsNumbers(t *testing.T) {
	diff := "--- a\n+++ b\n@@ -8,3 +8,4 @@\n same\n-old\n+new\n+more\n same\n@@ -100 +101 @@ func f()\n-x\n+y\n"
	var got []string
	for _, l := range Numbered(Hunks(diff)) {
		got = append(got, l.String())
	}
	want := " 8  same| 9 -old| 9 +new|10 +more|11  same|⋮| 100 -x| 101 +y"
	if joined := strings.Join(got, "|"); joined != want {
		t.Errorf("drawn as %q, want %q", joined, want)
	}
}
