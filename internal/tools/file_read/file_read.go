// Package file_read is the tool that reads a text file.
package file_read

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"ikigai/internal/clean"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

// maxWhole is the largest file that is read without offset and limit.
const maxWhole = 10 << 20

type input struct {
	Path    string `json:"path" doc:"File" maxlen:"4096" format:"path" alias:"file_path,filename"`
	Offset  int    `json:"offset,omitempty" doc:"First line, from 1" min:"1"`
	Limit   int    `json:"limit,omitempty" doc:"Number of lines" min:"1"`
	Numbers bool   `json:"line_numbers,omitempty" doc:"Number the lines"`
}

type output struct {
	toolkit.Shown
	lines int
}

// Tool reads a text file, whole or in part.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "file_read",
	Doc:     "Read a text file. Long files: use offset and limit.",
	Risk:    tool.Low,
	Effects: []tool.Effect{tool.Read},
	Plan:    plan,
	Run:     run,
})

func plan(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
	real, err := at.Files.Locate(in.Path)
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{Summary: "read " + in.Path, Reads: []string{real}}, nil
}

func run(ctx context.Context, at tool.Place, g tool.Grant, in input, _ tool.Progress) (output, error) {
	files := at.Files.With(g)
	info, err := files.Stat(in.Path)
	if err != nil {
		return output{}, err
	}
	if info.Size() > maxWhole && in.Limit == 0 {
		return output{}, tool.Errorf("INVALID_SIZE", "%s has %d bytes; read it in parts with offset and limit", in.Path, info.Size())
	}
	var text string
	if info.Size() > maxWhole {
		text, err = part(ctx, files, in)
	} else {
		text, err = whole(files, in)
	}
	if err != nil {
		return output{}, err
	}
	lines := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		lines++
	}
	if in.Numbers {
		text = numbered(text, max(in.Offset, 1))
	}
	return output{Shown: toolkit.Show(at, text), lines: lines}, nil
}

// whole reads the file and remembers it as seen, then cuts out the lines wanted.
func whole(files tool.Files, in input) (string, error) {
	data, _, err := files.ReadFile(in.Path)
	if err != nil {
		return "", err
	}
	if err := readable(in.Path, data); err != nil {
		return "", err
	}
	if in.Offset == 0 && in.Limit == 0 {
		return clean.Model(string(data)), nil
	}
	return lines(bytes.NewReader(data), in)
}

// part reads lines of a file that is too large to hold.
func part(ctx context.Context, files tool.Files, in input) (string, error) {
	f, err := files.Open(in.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", tool.Errorf(tool.ReadFailed, "reading %s: %w", in.Path, err)
	}
	if err := readable(in.Path, head[:n]); err != nil {
		return "", err
	}
	return lines(&cancellable{ctx, f}, in)
}

// lines gives the lines from offset on, at most limit of them.
func lines(r io.Reader, in input) (string, error) {
	b := bufio.NewReaderSize(r, 256<<10)
	var out strings.Builder
	for n, at := 1, max(in.Offset, 1); in.Limit == 0 || n < at+in.Limit; n++ {
		line, err := b.ReadSlice('\n')
		for {
			if n >= at {
				out.Write(line)
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
			line, err = b.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", tool.Errorf(tool.ReadFailed, "reading %s: %w", in.Path, err)
		}
	}
	return clean.Model(out.String()), nil
}

// cancellable stops reading when the call is over.
type cancellable struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// readable refuses what is no text, with a hint at what would work.
func readable(name string, data []byte) error {
	head := data[:min(len(data), 64<<10)]
	kind := http.DetectContentType(head)
	switch {
	case strings.HasPrefix(kind, "image/"):
		return tool.Errorf(tool.BinaryFile, "%s is an image (%s), not text", name, kind)
	case bytes.IndexByte(head, 0) >= 0 && !utf16Mark(head):
		return tool.Errorf(tool.BinaryFile, "%s is a binary file (%s), not text; look at it with a program such as file, strings or xxd", name, kind)
	}
	return nil
}

func utf16Mark(b []byte) bool {
	return bytes.HasPrefix(b, []byte{0xFF, 0xFE}) || bytes.HasPrefix(b, []byte{0xFE, 0xFF})
}

func numbered(text string, from int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "%d: %s", from, line)
		from++
	}
	return b.String()
}

// Summary says how much was read.
func (o output) Summary() string {
	if o.lines == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", o.lines)
}
