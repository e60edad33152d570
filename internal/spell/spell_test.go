package spell

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"bash", "file_read", "file_write", "glob", "grep", "anthropic"}
	for written, want := range map[string]string{
		"bsah": "bash", "read": "file_read", "fileread": "file_read", "grep_search": "grep", "Anthropc": "anthropic",
		"xyzzy-nothing-like-it": "", "": "",
	} {
		if got := Nearest(written, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", written, got, want)
		}
	}
}
