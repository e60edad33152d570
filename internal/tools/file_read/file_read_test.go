package file_read

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"ikigai/internal/tool"
	"ikigai/internal/tools/internal/stage"
)

func TestAHugeFileIsReadInParts(t *testing.T) {
	s := stage.New(t, nil)
	name := filepath.Join(s.Workspace, "huge.log")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line := strings.Repeat("0123456789", 10) + "\n"
	block := strings.Repeat(line, 10_000)
	for range 12 { // 12 MB
		if _, err := f.WriteString(block); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.WriteString("the end"); err != nil {
		t.Fatal(err)
	}
	if r := s.Call(Tool, `{"path":"huge.log"}`); r.Code() != "SIZE_FAILED" || !strings.Contains(string(r.Data), "offset and limit") {
		t.Errorf("%s", r.Envelope())
	}
	if got := s.Output(Tool, `{"path":"huge.log","offset":120000,"limit":9}`); got != line+"the end" {
		t.Errorf("%q", got)
	}
	if got := s.Output(Tool, `{"path":"huge.log","offset":500000,"limit":9}`); got != "" {
		t.Errorf("%q", got)
	}
	r := s.Call(Tool, `{"path":"huge.log","limit":1000000}`)
	if len(r.Data) > 64<<10 || !r.Truncated {
		t.Errorf("%d bytes", len(r.Data))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p, err := Tool.Prepare(ctx, s.Place, json.RawMessage(`{"path":"huge.log","offset":120000,"limit":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Run(ctx, tool.Grant{}, nil); r.Code() != tool.CallCancelled {
		t.Errorf("%s", r.Envelope())
	}
}

func TestALongLineWithoutEndIsBounded(t *testing.T) {
	s := stage.New(t, map[string]string{"line": strings.Repeat("x", 11<<20)})
	s.Limits.Output = 1 << 16
	r := s.Call(Tool, `{"path":"line","limit":1}`)
	if !r.OK() || len(r.Data) > 1<<17 || !strings.Contains(string(r.Data), "left out") {
		t.Errorf("%d bytes, %.100s", len(r.Data), r.Data)
	}
}

func TestALongFileShowsItsEndsAndItsOwnName(t *testing.T) {
	s := stage.New(t, map[string]string{"long.txt": strings.Repeat("line\n", 5000)})
	got := s.Output(Tool, `{"path":"long.txt"}`)
	if !strings.Contains(got, "[... 3000 lines, 15000 bytes left out; whole output in long.txt: file_read with offset and limit]") {
		t.Errorf("%.200q", got[9000:])
	}
	left, err := filepath.Glob(filepath.Join(s.Dir, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("what can be read again was spilled: %v", left)
	}
}

func TestWideTextIsRead(t *testing.T) {
	little, big := []byte{0xFF, 0xFE}, []byte{0xFE, 0xFF}
	for _, u := range utf16.Encode([]rune("héllo 🌍\n")) {
		little = append(little, byte(u), byte(u>>8))
		big = append(big, byte(u>>8), byte(u))
	}
	s := stage.New(t, map[string]string{"little": string(little), "big": string(big), "latin": "caf\xe9\n"})
	for _, name := range []string{"little", "big"} {
		if got := s.Output(Tool, `{"path":"`+name+`"}`); got != "héllo 🌍\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := s.Output(Tool, `{"path":"latin"}`); got != "caf\\xe9\n" {
		t.Errorf("%q", got)
	}
}

func TestImagesAndOtherDataAreRefusedWithAHint(t *testing.T) {
	s := stage.New(t, map[string]string{
		"p.png": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "j.jpg": "\xff\xd8\xff\xe0 JFIF", "g.gif": "GIF89a\x01\x00\x01\x00\x80", "d.pdf": "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
		"z.zip": "PK\x03\x04\x14\x00", "e": "\x7fELF\x02\x01\x01\x00",
	})
	for name, hint := range map[string]string{"p.png": "image/png", "j.jpg": "image/jpeg", "g.gif": "image/gif", "d.pdf": "application/pdf", "z.zip": "zip", "e": "xxd"} {
		if r := s.Call(Tool, `{"path":"`+name+`"}`); r.Code() != tool.BinaryFile || !strings.Contains(string(r.Data), hint) {
			t.Errorf("%s: %s", name, r.Envelope())
		}
	}
}

func TestReadingOutsideNeedsAGrant(t *testing.T) {
	s := stage.New(t, nil)
	other := stage.New(t, map[string]string{"a": "outside"})
	args := `{"path":"` + filepath.Join(other.Workspace, "a") + `"}`
	if r := s.Call(Tool, args); r.Code() != tool.PermissionDenied {
		t.Errorf("%s", r.Envelope())
	}
	if plan := s.Plan(Tool, args); len(plan.Reads) != 1 || plan.Reads[0] != filepath.Join(other.Workspace, "a") {
		t.Errorf("%+v", plan)
	}
	if r := s.CallWith(Tool, args, tool.Grant{Read: []string{other.Workspace}}); string(r.Data) != `{"output":"outside"}` {
		t.Errorf("%s", r.Envelope())
	}
}

func TestTagsThatNobodySeesAreTakenOut(t *testing.T) {
	s := stage.New(t, map[string]string{"a": "plain\U000E0041\U000E0042 text"})
	if got := s.Output(Tool, `{"path":"a"}`); got != "plain text" {
		t.Errorf("%q", got)
	}
}

func TestTheSummaryCountsLines(t *testing.T) {
	s := stage.New(t, map[string]string{"one": "x", "three": "x\ny\nz\n", "none": ""})
	for name, want := range map[string]string{"one": "1 line", "three": "3 lines", "none": "0 lines"} {
		if got := s.Call(Tool, `{"path":"`+name+`"}`).Summary; got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	s := stage.New(b, map[string]string{"a": strings.Repeat("some line of a program\n", 1000)})
	for b.Loop() {
		s.Call(Tool, `{"path":"a"}`)
	}
}
