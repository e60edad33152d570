package demo

import (
	"encoding/json"
	"fmt"
	"strings"
)

// report tells in prose what the calls brought.
func report(past []done, more string) string {
	var b strings.Builder
	for _, d := range past {
		b.WriteString(sentence(d) + "\n")
	}
	if more != "" {
		b.WriteString(more + "\n")
	}
	b.WriteString("\n(This was the offline demo model: the calls were real, the thinking was not.)")
	return strings.TrimSpace(b.String())
}

// sentence says what one call did. It goes by the shape of the answer.
func sentence(d done) string {
	what := d.call.Summary()
	if code := d.result.Code(); code != "" {
		return fmt.Sprintf("- %s did not work (%s): %s", what, code.Type(), d.result.Summary)
	}
	var got struct {
		Output   string `json:"output"`
		Count    *int   `json:"count"`
		ExitCode *int   `json:"exit_code"`
		Bytes    *int   `json:"bytes"`
	}
	if json.Unmarshal(d.result.Data, &got) != nil {
		return "- " + what + " is done."
	}
	switch {
	case got.Count != nil:
		return fmt.Sprintf("- %s found %d:\n%s", what, *got.Count, excerpt(got.Output, 10))
	case got.ExitCode != nil && *got.ExitCode != 0:
		return fmt.Sprintf("- %s ended with exit code %d:\n%s", what, *got.ExitCode, excerpt(got.Output, 5))
	case got.ExitCode != nil:
		return fmt.Sprintf("- %s printed:\n%s", what, excerpt(got.Output, 5))
	case strings.Count(got.Output, "\n") > 1:
		return fmt.Sprintf("- %s has %d lines and begins with:\n%s", what, strings.Count(strings.TrimSuffix(got.Output, "\n"), "\n")+1, excerpt(got.Output, 3))
	}
	return fmt.Sprintf("- %s: %s", what, strings.TrimSpace(got.Output))
}

// excerpt is the first lines of text, indented.
func excerpt(text string, most int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	more := len(lines) - most
	if more > 0 {
		lines = lines[:most]
	}
	out := "    " + strings.Join(lines, "\n    ")
	if more > 0 {
		out += fmt.Sprintf("\n    … and %d more", more)
	}
	return out
}
