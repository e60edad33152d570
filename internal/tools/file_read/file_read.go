// Package file_read is the tool that reads a text file.
package file_read

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"ikigai/internal/clean"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/tools/internal/text"
)

// maxWhole is the largest file that is read without offset and limit.
const maxWhole = 10 << 20

type input struct {
	Path    string `json:"path" doc:"File" format:"path" alias:"file_path,filename,filePath"`
	Offset  int    `json:"offset,omitempty" doc:"First line, from 1" min:"1" alias:"start_line"`
	Limit   int    `json:"limit,omitempty" doc:"Number of lines" min:"1"`
	Numbers bool   `json:"line_numbers,omitempty"`
}

type output struct {
	toolkit.Shown
	lines int
}

// Tool reads a text file, whole or in part.
var Tool = toolkit.New(toolkit.Def[input, output]{
	Name:    "file_read",
	Doc:     "Read a text file. Long ones: use offset and limit.",
	Risk:    tool.Low,
	Effects: []tool.Effect{tool.Read},
	Plan:    plan,
	Run:     run,
})

func plan(_ context.Context, at tool.Place, in input) (tool.Plan, error) {
	return toolkit.Reading(at, in.Path, "read "+in.Path)
}

func run(ctx context.Context, at tool.Place, g tool.Grant, in input, _ tool.Progress) (output, error) {
	at.Files = at.Files.With(g)
	info, err := at.Files.Stat(in.Path)
	if err != nil {
		return output{}, toolkit.Missing(err, in.Path)
	}
	read := whole
	if info.Size() > maxWhole {
		if in.Limit == 0 {
			return output{}, tool.Errorf("SIZE_FAILED", "%s has %d bytes, more than the %d that are read at once; read it in parts with offset and limit", in.Path, info.Size(), maxWhole)
		}
		read = part
	}
	got, err := read(ctx, at, in)
	if err != nil {
		return output{}, err
	}
	return answer(in, clean.Model(got)), nil
}

func answer(in input, got string) output {
	lines := strings.Count(got, "\n")
	if got != "" && !strings.HasSuffix(got, "\n") {
		lines++
	}
	if in.Numbers {
		got = text.Numbered(got, max(in.Offset, 1))
	}
	return output{Shown: toolkit.ShowFile(in.Path, got), lines: lines}
}

// whole reads the file and remembers it as seen, then cuts out the lines wanted.
func whole(_ context.Context, at tool.Place, in input) (string, error) {
	data, _, err := at.Files.ReadFile(in.Path)
	if err != nil {
		return "", toolkit.Missing(err, in.Path)
	}
	if data, err = text.Decode(in.Path, data); err != nil || in.Offset == 0 && in.Limit == 0 {
		return string(data), err
	}
	return lines(bytes.NewReader(data), in, 1, len(data))
}

// part reads lines of a file that is too large to hold. It begins near the first
// of them: the session remembers where in such a file lines are.
func part(ctx context.Context, at tool.Place, in input) (string, error) {
	f, err := at.Files.Open(in.Path)
	if err != nil {
		return "", toolkit.Missing(err, in.Path)
	}
	defer f.Close()
	failed := func(err error) error { return tool.Errorf(tool.ReadFailed, "reading %s: %w", in.Path, err) }
	head := make([]byte, text.Head)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", failed(err)
	}
	if _, err := text.Decode(in.Path, head[:n]); err != nil {
		return "", err
	}
	real, err := at.Files.Locate(in.Path)
	if err != nil {
		return "", err
	}
	x, err := indexed(at.Memo, real, f)
	if err != nil {
		return "", failed(err)
	}
	offset, number, err := x.find(ctx, f, max(in.Offset, 1))
	if err != nil {
		return "", failed(err)
	}
	rest := io.NewSectionReader(f, offset, math.MaxInt64-offset)
	return lines(&cancellable{ctx, rest}, in, number, toolkit.MaxOutput(at.Limits))
}

// lines gives the lines from offset on, at most limit of them and at most that
// many bytes. The reader begins in the line with the given number, which is
// before offset or the first.
func lines(r io.Reader, in input, n, most int) (string, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	var out strings.Builder
	first := max(in.Offset, 1)
	for in.Limit == 0 || n < first+in.Limit {
		piece, err := b.ReadSlice('\n')
		if n >= first {
			if out.Len()+len(piece) > most {
				return out.String() + fmt.Sprintf("\n[... line %d and what follows left out: %d bytes are read at once]", n, most), nil
			}
			out.Write(piece)
		}
		switch {
		case err == nil:
			n++
		case errors.Is(err, io.EOF):
			return out.String(), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", tool.Errorf(tool.ReadFailed, "reading %s: %w", in.Path, err)
		}
	}
	return out.String(), nil
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

// Summary says how much was read.
func (o output) Summary() string {
	if o.lines == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", o.lines)
}
