package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"ikigai/internal/headless"
	"ikigai/internal/tool"
)

func (a *app) debugCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "debug", Short: "Show how single parts decide, for bug reports and tests from outside", Args: cobra.NoArgs,
		Long: `Show how single parts decide, for bug reports and tests from outside.

decode and encode take a whole body or conversation on standard input. All others
take JSON lines and answer each with one line, in order and at once. A field NAME
may also be given as NAME_b64 (base64 of its bytes) or NAME_gz_b64 (base64 of its
bytes in gzip). A line that cannot be used is answered with an error, and the next
one is read.`,
	}
	c.AddCommand(
		a.debugDecodeCommand(),
		a.debugEncodeCommand(),
		a.debugRiskCommand(),
		a.debugRuleCommand(),
		a.debugArgsCommand(),
		a.debugEditCommand(),
		a.debugPathCommand(),
		a.debugURLCommand(),
		a.debugScreenCommand(),
	)
	return c
}

// eachLine answers every line of standard input with one line. Each is written
// before the next is read, so that a program may ask and wait.
func (a *app) eachLine(answer func(row) (any, error)) error {
	in := bufio.NewReader(a.env.Stdin)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if _, err := a.env.Stdout.Write(answerLine(n, line, answer)); err != nil {
				return &fault{headless.ExitFailure, "writing an answer: " + err.Error(), ""}
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &fault{headless.ExitFailure, "reading standard input: " + err.Error(), ""}
		}
	}
}

// A refusal answers a line that cannot be used.
type refusal struct {
	Line  int    `json:"line"`
	Error string `json:"error"`
}

func answerLine(n int, line []byte, answer func(row) (any, error)) []byte {
	r, err := readRow(line)
	var out any
	if err == nil {
		out, err = guarded(r, answer)
	}
	if err != nil {
		out = refusal{n, err.Error()}
	}
	raw, err := tool.Encode(out)
	if err != nil {
		raw, _ = tool.Encode(refusal{n, err.Error()}) // a number and a text can be written
	}
	return append(ascii(joinID(r.id(), raw)), '\n')
}

// guarded keeps one line from silencing those after it.
func guarded(r row, answer func(row) (any, error)) (out any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this is a mistake in ikigai: panic: %v", p)
		}
	}()
	return answer(r)
}

// joinID puts the id of a line before the fields of its answer.
func joinID(id, answer json.RawMessage) []byte {
	return slices.Concat([]byte(`{"id":`), id, []byte(","), bytes.TrimPrefix(answer, []byte("{")))
}

// ascii writes JSON as the corpora do: every character that is not plain ASCII
// is escaped, so that a terminal shows what is there.
func ascii(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		switch {
		case r < 0x7f:
			out = append(out, raw[0])
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		raw = raw[n:]
	}
	return out
}
