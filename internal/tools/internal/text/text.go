// Package text is what the tools that handle text files have in common: what
// counts as text, numbered lines, and changing lines by their numbers.
package text

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"ikigai/internal/diff"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

// Head is how much of a file is looked at to tell text from other data.
const Head = 64 << 10

// Decode gives the text of a file, UTF-16 with a byte order mark as UTF-8. What
// is no text is refused, with a hint at what would work.
func Decode(name string, data []byte) ([]byte, error) {
	if wide, ok := fromUTF16(data); ok {
		return wide, nil
	}
	return data, Check(name, data)
}

// Check refuses what is no text.
func Check(name string, data []byte) error {
	head := data[:min(len(data), Head)]
	if Plain(head) {
		return nil
	}
	kind := http.DetectContentType(head)
	if strings.HasPrefix(kind, "image/") {
		return tool.Errorf(tool.BinaryFile, "%s is an image (%s), and a tool's answer is text; a program such as file tells its size and format", name, kind)
	}
	return tool.Errorf(tool.BinaryFile, "%s is a binary file (%s), not text; look at it with a program such as file, strings or xxd", name, kind)
}

// Plain reports whether data begins like a text in UTF-8 or another charset
// that has no NUL.
func Plain(data []byte) bool {
	data = data[:min(len(data), Head)]
	if bytes.IndexByte(data, 0) >= 0 {
		return false
	}
	if utf8.Valid(whole(data)) {
		return true // also when it begins like an image: BM are two letters
	}
	kind := http.DetectContentType(data)
	return strings.HasPrefix(kind, "text/") || kind == "application/octet-stream"
}

// whole is data without a character that was cut at its end.
func whole(data []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(data); i++ {
		if c := data[len(data)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(data[len(data)-i:]) {
				return data[:len(data)-i]
			}
			break
		}
	}
	return data
}

func fromUTF16(data []byte) ([]byte, bool) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		order = binary.BigEndian
	default:
		return nil, false
	}
	units := make([]uint16, 0, len(data)/2)
	for data = data[2:]; len(data) >= 2; data = data[2:] {
		units = append(units, order.Uint16(data))
	}
	return []byte(string(utf16.Decode(units))), true
}

// Numbered puts its number before every line.
func Numbered(text string, from int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "%d: %s", from, line)
		from++
	}
	return b.String()
}

// Lines counts the lines of a text; the last one needs no line end.
func Lines(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// Splice puts content in the place of the lines from first up to, but not with,
// end, counted from 1. Content is whole lines, its last line end may be missing,
// and gets the line ends of the file.
func Splice(data []byte, first, end int, content string) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	if n := len(lines); len(lines[n-1]) == 0 {
		lines = lines[:n-1]
	}
	eol := lineEnd(data)
	fresh := []byte(strings.ReplaceAll(strings.ReplaceAll(content, "\r\n", "\n"), "\n", eol))
	before, after := bytes.Join(lines[:first-1], nil), bytes.Join(lines[end-1:], nil)
	if len(before) > 0 && before[len(before)-1] != '\n' && len(fresh) > 0 {
		before = append(before, eol...)
	}
	endless := len(data) > 0 && data[len(data)-1] != '\n' && len(after) == 0
	if len(fresh) > 0 && fresh[len(fresh)-1] != '\n' && !endless {
		fresh = append(fresh, eol...)
	}
	return bytes.Join([][]byte{before, fresh, after}, nil)
}

// lineEnd is how the lines of a file end: as its first one does.
func lineEnd(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// Plan is the plan of a change to one file, with its preview. What is wrong is
// left for Change to report.
func Plan(at tool.Place, name, summary string, change func([]byte) ([]byte, error)) (tool.Plan, error) {
	real, err := at.Files.Locate(name)
	if err != nil {
		return tool.Plan{}, err
	}
	p := tool.Plan{Summary: summary, Writes: []string{real}}
	if old, fresh, _, err := changed(at.Files, name, change); err == nil {
		p.Preview = diff.Unified("a/"+name, "b/"+name, old, fresh, 3)
	}
	return p, nil
}

// Change replaces the text of a file by what change makes of it, unless the file
// was changed since the model read it.
func Change(files tool.Files, name string, change func([]byte) ([]byte, error)) error {
	_, fresh, stamp, err := changed(files, name, change)
	if err != nil {
		return err
	}
	return files.WriteFile(name, fresh, stamp)
}

func changed(files tool.Files, name string, change func([]byte) ([]byte, error)) (old, fresh []byte, stamp tool.Stamp, err error) {
	if old, stamp, err = toolkit.Current(files, name); err != nil {
		return nil, nil, stamp, err
	}
	if err = Check(name, old); err != nil {
		return nil, nil, stamp, err
	}
	fresh, err = change(old)
	return old, fresh, stamp, err
}
