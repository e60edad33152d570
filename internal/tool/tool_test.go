package tool

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"
)

func TestEnvelope(t *testing.T) {
	three := 3
	tests := []struct {
		name   string
		result Result
		want   string
	}{
		{"a success wraps the tool's own answer", Result{Data: json.RawMessage(`{"output":"a","count":1}`)}, `{"tool_success":true,"result":{"output":"a","count":1}}`},
		{
			"a tool's own error is a success of the wrapper",
			Result{Data: json.RawMessage(`{"error":"File not found: x","error_code":"FILE_NOT_FOUND"}`)},
			`{"tool_success":true,"result":{"error":"File not found: x","error_code":"FILE_NOT_FOUND"}}`,
		},
		{
			"a failure has no exit code when there was none",
			Result{Failure: &Failure{Code: ToolTimeout, Message: "Tool 'bash' timed out after 30s", Stdout: "half"}},
			`{"tool_success":false,"error":"Tool 'bash' timed out after 30s","error_code":"TOOL_TIMEOUT","exit_code":null,"stdout":"half","stderr":""}`,
		},
		{
			"a crash has one",
			Result{Failure: &Failure{Code: ToolCrashed, Message: "it <broke> & left", ExitCode: &three, Stderr: "no"}},
			`{"tool_success":false,"error":"it <broke> & left","error_code":"TOOL_CRASHED","exit_code":3,"stdout":"","stderr":"no"}`,
		},
		{
			"the limit stands inside the result",
			Result{Data: json.RawMessage(`{"output":"a"}`), Limit: 3},
			`{"tool_success":true,"result":{"output":"a","limit_reached":true,"limit_message":"Tool call limit reached (3). Stopping tool loop."}}`,
		},
		{"also in an empty one", Result{Data: json.RawMessage(` {} `), Limit: 1}, `{"tool_success":true,"result":{"limit_reached":true,"limit_message":"Tool call limit reached (1). Stopping tool loop."}}`},
		{
			"and at the top of a failure",
			Result{Failure: &Failure{Code: PermissionDenied, Message: "no"}, Limit: 2},
			`{"tool_success":false,"error":"no","error_code":"PERMISSION_DENIED","exit_code":null,"stdout":"","stderr":"","limit_reached":true,"limit_message":"Tool call limit reached (2). Stopping tool loop."}`,
		},
		{"no data is an empty object", Result{}, `{"tool_success":true,"result":{}}`},
		{"what is no object is output", Result{Data: json.RawMessage(`[1]`)}, `{"tool_success":true,"result":{"output":[1]}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := string(tt.result.Envelope())
			if got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
			if !json.Valid([]byte(got)) {
				t.Error("not JSON")
			}
		})
	}
}

func TestCodesHaveOneTypeEach(t *testing.T) {
	for code, want := range map[Code]ErrorType{
		"": None, FileNotFound: TypeNotFound, "NOT_FOUND": TypeNotFound, ToolNotFound: TypeNotFound, "NotFound": TypeNotFound,
		InvalidParams: TypeValidation, InvalidPath: TypeValidation, InvalidPattern: TypeValidation, "AMBIGUOUS": TypeValidation, "NO_EDITS": TypeValidation,
		PermissionDenied: TypePermission, OpenFailed: TypeIO, ReadFailed: TypeIO, NoSpace: TypeIO, OutputTooLarge: TypeIO,
		InvalidJSONOutput: TypeParse, BinaryFile: TypeParse, InvalidUTF8: TypeParse,
		ToolCrashed: TypeInternal, ToolTimeout: TypeInternal, CallCancelled: TypeInternal, Interrupted: TypeInternal, LimitReached: TypeInternal, "ExecutionFailed": TypeInternal,
		"SOMETHING_ELSE": TypeInternal,
	} {
		if got := code.Type(); got != want {
			t.Errorf("%s is %s, want %s", code, got, want)
		}
	}
}

func TestResultKnowsItsOwnError(t *testing.T) {
	for data, want := range map[string]Code{
		`{"output":"x"}`: "", `{"error":"no"}`: "TOOL_ERROR", `{"error":"no","error_code":"MISSING_CREDENTIALS"}`: "MISSING_CREDENTIALS", `{"error":null}`: "", ``: "",
	} {
		r := Result{Data: json.RawMessage(data)}
		if got := r.Code(); got != want || r.OK() != (want == "") {
			t.Errorf("%s: %q", data, got)
		}
	}
}

func TestCallIsReadByAPerson(t *testing.T) {
	for args, want := range map[string]string{
		`{"pattern":"*.c","path":"src/"}`:   `glob(pattern="*.c", path="src/")`,
		`{"a":1,"b":[true],"c":{"d":"<>"}}`: `glob(a=1, b=[true], c={"d":"<>"})`,
		`{}`:                                `glob()`,
		`not json`:                          `glob(not json)`,
		``:                                  `glob()`,
	} {
		if got := (Call{Name: "glob", Args: json.RawMessage(args)}).Summary(); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

type named struct{ Spec_ Spec }

func (n named) Spec() Spec { return n.Spec_ }
func (n named) Prepare(context.Context, Place, json.RawMessage) (Prepared, error) {
	return Prepared{}, nil
}

func TestLaterOriginsWinAndShadow(t *testing.T) {
	s := NewSet(Complete, nil,
		named{Spec{Name: "bash", Origin: Project}}, named{Spec{Name: "bash", Origin: BuiltIn}},
		named{Spec{Name: "bash", Origin: User}}, named{Spec{Name: "grep", Origin: BuiltIn}})
	got, ok := s.Lookup("bash")
	if !ok || got.Spec().Origin != Project {
		t.Errorf("the winner is %v", got.Spec().Origin)
	}
	if n := len(s.Shadowed("bash")); n != 2 {
		t.Errorf("%d are shadowed, want 2", n)
	}
	if names := strings.Join(s.Names(), " "); names != "bash grep" {
		t.Errorf("names: %s", names)
	}
	if text := NotFound("grpe", s.Names()).Text; !strings.Contains(text, "did you mean grep?") {
		t.Error(text)
	}
	if text := NotFound("x", nil).Text; !strings.Contains(text, "no tools available") {
		t.Error(text)
	}
}

func TestErrorKeepsItsCause(t *testing.T) {
	err := error(Errorf(FileNotFound, "opening x: %w", fs.ErrNotExist))
	if !errors.Is(err, fs.ErrNotExist) || CodeOf(err, "OTHER") != FileNotFound || CodeOf(fs.ErrExist, "OTHER") != "OTHER" {
		t.Error(err)
	}
}

func TestWhatDeclaresNothingIsNotHarmless(t *testing.T) {
	if (Spec{}).OnlyReads() {
		t.Error("a tool that declares no effect counts as reading only")
	}
	if !(Spec{Effects: []Effect{Read}}).OnlyReads() || (Spec{Effects: []Effect{Read, Net}}).OnlyReads() {
		t.Error("reading is not told apart from more")
	}
	if r, ok := ParseRisk("harmless"); ok || r != High {
		t.Error("an unknown risk is not the highest")
	}
}
