package provider

import (
	"bytes"
	"net/http"
	"strings"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/llm"
)

// fakeFormat is a wire format of one letter per line, so that the tests of the
// way there and back depend on no vendor's: T text, C id name args, U in out,
// E class message, and END.
func fakeFormat() *dialect.Format {
	return &dialect.Format{
		Name: "fake", Wire: "fake",
		Path: func(model string) string { return "/talk?model=" + model },
		Header: func(key string, h http.Header) {
			if key != "" {
				h.Set("Authorization", "Bearer "+key)
			}
		},
		Encoder: func(dialect.Quirks) dialect.Encoder { return fakeEncoder{} },
		Decoder: func() dialect.Decoder { return &fakeDecoder{} },
	}
}

type fakeEncoder struct{}

func (fakeEncoder) Encode(r llm.Request) (dialect.Body, error) {
	return dialect.Body{Segments: [][]byte{[]byte(`{"model":`), []byte(`"` + r.Model + `"}`)}}, nil
}

type fakeDecoder struct {
	dialect.Faults
	rest  []byte
	block int
	ended bool
}

func (d *fakeDecoder) Feed(p []byte, emit func(llm.Delta)) error {
	d.rest = append(d.rest, p...)
	for {
		line, rest, ok := bytes.Cut(d.rest, []byte("\n"))
		if !ok {
			return nil
		}
		d.rest = rest
		if err := d.line(strings.TrimRight(string(line), "\r"), emit); err != nil {
			return err
		}
	}
}

func (d *fakeDecoder) line(line string, emit func(llm.Delta)) error {
	word, rest, _ := strings.Cut(strings.TrimPrefix(line, "data: "), " ")
	switch word {
	case "T":
		emit(llm.Delta{Kind: llm.Text, Text: rest})
	case "C":
		f := strings.SplitN(rest, " ", 3)
		d.block++
		emit(llm.Delta{Kind: llm.CallPart, Block: d.block, ID: f[0], Name: f[1], Text: f[2]})
	case "U":
		n := len(rest)
		emit(llm.Delta{Kind: llm.UsageDelta, Usage: &convo.Usage{Input: &n}})
	case "E":
		class, text, _ := strings.Cut(rest, " ")
		return &llm.Error{Class: llm.Class(class), Message: text}
	case "END":
		d.ended = true
		emit(llm.Delta{Kind: llm.Done, Stop: llm.EndTurn})
	}
	return nil
}

func (d *fakeDecoder) Close(func(llm.Delta)) error {
	if !d.ended {
		return &llm.Error{Class: llm.Truncated, Message: "the reply ended before its end signal"}
	}
	return nil
}
