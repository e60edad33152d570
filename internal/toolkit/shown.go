package toolkit

import (
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"ikigai/internal/tool"
)

// What the model sees of one output at most. More is spilled to a file of the
// session, where file tools can page through it.
const (
	shownLines = 2000
	shownBytes = 50 << 10
)

// MaxOutput is how many bytes of a tool's output are kept at all.
func MaxOutput(l tool.Limits) int {
	if l.Output > 0 {
		return l.Output
	}
	return tool.DefaultOutput
}

// Shown is an output as the model gets it: whole when it is short, else its
// head and tail. Answers embed it.
type Shown struct {
	Output     string `json:"output" doc:"What was found or printed"`
	Truncated  bool   `json:"truncated,omitempty"`
	TotalBytes int64  `json:"total_bytes,omitempty"`
	FullOutput string `json:"full_output,omitempty" doc:"File with the whole output"`
}

// Cut reports whether something was left out.
func (s Shown) Cut() bool { return s.Truncated }

// Show shortens text to what the model sees and spills the whole to the
// session's folder. Where there is none, the rest is lost, and the text says so.
func Show(at tool.Place, text string) Shown { return ShowPart(at, text, 1) }

// ShowPart is Show for one of several outputs that share the room of a result.
func ShowPart(at tool.Place, text string, parts int) Shown {
	return shorten(text, room{shownLines / parts, shownBytes / parts}, func() string { return Spill(at, text) })
}

// ShowFile is Show for what can be read again from the file name: nothing is spilled.
func ShowFile(name, text string) Shown {
	return shorten(text, room{shownLines, shownBytes}, func() string { return name })
}

// room is how much of an output fits into a result.
type room struct{ lines, bytes int }

func (r room) holds(text string) bool {
	return len(text) <= r.bytes && strings.Count(text, "\n") <= r.lines
}

// Fits reports whether a result has room for all of text.
func Fits(text string) bool { return room{shownLines, shownBytes}.holds(text) }

func shorten(text string, r room, keep func() string) Shown {
	if r.holds(text) {
		return Shown{Output: text}
	}
	head, tail := r.ends(text)
	left := text[len(head) : len(text)-len(tail)]
	s := Shown{Truncated: true, TotalBytes: int64(len(text)), FullOutput: keep()}
	where := "the rest was not kept"
	if s.FullOutput != "" {
		where = fmt.Sprintf("whole output in %s: file_read with offset and limit", s.FullOutput)
	}
	mark := fmt.Sprintf("[... %d lines, %d bytes left out; %s]\n", strings.Count(left, "\n"), len(left), where)
	if !strings.HasSuffix(head, "\n") {
		mark = "\n" + mark
	}
	s.Output = head + mark + tail
	return s
}

// ends gives the first and last part of a text: half of the lines and half of
// the bytes each, cut at a line end where one is near, and never inside a
// character.
func (r room) ends(text string) (head, tail string) {
	head = text[:min(len(text), r.bytes/2)]
	if n := nthLine(head, r.lines/2); n >= 0 {
		head = head[:n+1]
	} else if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		head = head[:i+1]
	}
	for len(head) > 0 && !utf8.RuneStart(text[len(head)]) {
		head = head[:len(head)-1]
	}
	rest := text[len(head):]
	start := max(0, len(rest)-r.bytes/2)
	if n := lastLines(rest, r.lines/2); n > start {
		start = n
	} else if i := strings.IndexByte(rest[start:], '\n'); i >= 0 && i < (len(rest)-start)/2 {
		start += i + 1
	}
	for start < len(rest) && !utf8.RuneStart(rest[start]) {
		start++
	}
	return head, rest[start:]
}

// nthLine is where the n-th newline stands, or -1.
func nthLine(s string, n int) int {
	at := -1
	for range n {
		i := strings.IndexByte(s[at+1:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
	}
	return at
}

// lastLines is where the last n lines begin.
func lastLines(s string, n int) int {
	at := len(strings.TrimSuffix(s, "\n"))
	for range n {
		at = strings.LastIndexByte(s[:at], '\n')
		if at < 0 {
			return 0
		}
	}
	return at + 1
}

// Spill keeps a text whole in a file of the session and gives its path. A session
// without a folder, or a full disk, keeps nothing: the path is empty, and the
// answer says so.
func Spill(at tool.Place, text string) string {
	if at.Dir == "" {
		return ""
	}
	f, err := os.CreateTemp(at.Dir, "output-*.txt")
	if err != nil {
		return ""
	}
	_, err = f.WriteString(text)
	if cerr := f.Close(); err != nil || cerr != nil {
		os.Remove(f.Name())
		return ""
	}
	return f.Name()
}
