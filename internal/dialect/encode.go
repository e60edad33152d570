package dialect

import (
	"bytes"
	"maps"
	"slices"

	"ikigai/internal/llm"
	"ikigai/internal/tool"
)

// A Grammar is how one format writes a request. A body is a head, the groups of
// the conversation, and a tail; commas between groups are put by NewEncoder.
type Grammar struct {
	Rules Rules
	// Head writes everything up to the list of messages, its bracket included;
	// a message of its own may follow.
	Head func(dst []byte, c Context) []byte
	// Group writes the messages of one group, or nothing. mark is where in dst a
	// cache mark may be put, zero where none may.
	Group func(dst []byte, c Context, g Group) (out []byte, mark int)
	// Tail writes everything from the end of the list on.
	Tail func(dst []byte, c Context) []byte
	// Mark is put at the last places where one may be, at most Marks of them.
	Mark  string
	Marks int
}

// A Context is what the parts of a request are written from.
type Context struct {
	llm.Request
	System string // the one system prompt
	Thread *Thread
	Rest   []Group // the last groups of the conversation
}

// NewEncoder keeps what it encoded: the bytes of a group that can no longer
// grow are written once, into blocks that are only ever appended to.
func NewEncoder(g Grammar) Encoder { return &encoder{grammar: g} }

type encoder struct {
	grammar Grammar
	thread  *Thread
	model   string
	system  string
	tools   []tool.Spec
	head    []byte
	blocks  [][]byte // the closed groups, each with a comma before it but the first
	size    int      // of all blocks
	marks   []int    // the last places for a mark, counted from the first block on
}

const encodedBlock = 1 << 18

// Encode gives the body of r. What is new in r is encoded, and the rest found again.
func (e *encoder) Encode(r llm.Request) (Body, error) {
	var notices []string
	if e.thread == nil || r.Model != e.model || !e.thread.Follows(r.Events) {
		notices = e.restart(r)
	}
	c := Context{Request: r, System: r.System, Thread: e.thread}
	if !sameTools(e.tools, r.Tools) {
		for _, t := range r.Tools {
			e.thread.WireName(t.Name) // tools that can be called come before those that could once
		}
	}
	for _, g := range e.thread.Read(r.Events) {
		e.add(c, g)
	}
	if c.System == "" {
		c.System = e.thread.System()
	}
	c.Rest = e.thread.Rest()
	notices = append(notices, e.writeHead(c)...)
	body := e.assemble(c)
	body.Notices = append(notices, e.thread.Notices()...)
	body.Model, body.Names = r.Model, maps.Clone(e.thread.Renamed())
	return body, nil
}

// restart forgets all that was encoded, and says why when it was in use.
func (e *encoder) restart(r llm.Request) []string {
	var notices []string
	switch {
	case e.thread == nil:
	case r.Model != e.model:
		notices = []string{"the model changed from " + e.model + " to " + r.Model + ": the provider's cache starts anew"}
	default:
		notices = []string{"earlier parts of the conversation changed: the provider's cache starts anew"}
	}
	*e = encoder{grammar: e.grammar, thread: NewThread(e.grammar.Rules, r.Model), model: r.Model}
	return notices
}

// writeHead writes the head when something in it changed.
func (e *encoder) writeHead(c Context) []string {
	if e.head != nil && e.system == c.System && sameTools(e.tools, c.Tools) && len(c.Tools) > 0 {
		return nil
	}
	head := e.grammar.Head(nil, c)
	var notices []string
	switch {
	case e.head == nil || bytes.Equal(head, e.head):
	case e.system != c.System:
		notices = []string{"the system prompt changed: the provider's cache starts anew"}
	default:
		notices = []string{"the list of tools changed: the provider's cache starts anew"}
	}
	e.head, e.system, e.tools = head, c.System, slices.Clone(c.Tools)
	return notices
}

func sameTools(a, b []tool.Spec) bool {
	return slices.EqualFunc(a, b, func(x, y tool.Spec) bool {
		return x.Name == y.Name && x.Description == y.Description && bytes.Equal(x.Parameters.JSON(), y.Parameters.JSON())
	})
}

// add encodes a group that is whole.
func (e *encoder) add(c Context, g Group) {
	n := len(e.blocks)
	if n == 0 || cap(e.blocks[n-1])-len(e.blocks[n-1]) < encodedBlock/16 {
		e.blocks = append(e.blocks, make([]byte, 0, encodedBlock))
		n++
	}
	block := e.blocks[n-1]
	out, mark := e.group(block, c, g, e.size > 0)
	if cap(out) != cap(block) && len(block) > 0 { // it did not fit: it gets a block of its own
		e.blocks = append(e.blocks, slices.Clone(out[len(block):]))
	} else {
		e.blocks[n-1] = out
	}
	if mark > 0 {
		e.mark(e.size + mark - len(block))
	}
	e.size += len(out) - len(block)
}

// group writes one group, with a comma before it when others are.
func (e *encoder) group(dst []byte, c Context, g Group, comma bool) ([]byte, int) {
	from := len(dst)
	if comma {
		dst = append(dst, ',')
	}
	begin := len(dst)
	out, mark := e.grammar.Group(dst, c, g)
	if len(out) == begin {
		return out[:from], 0
	}
	return out, mark
}

// mark remembers a place for a cache mark; only the last ones can be used.
func (e *encoder) mark(at int) {
	if e.grammar.Marks == 0 {
		return
	}
	if len(e.marks) == e.grammar.Marks {
		copy(e.marks, e.marks[1:])
		e.marks = e.marks[:len(e.marks)-1]
	}
	e.marks = append(e.marks, at)
}

// assemble lays out the segments of a body: what is kept, what is new, and the
// cache marks between them.
func (e *encoder) assemble(c Context) Body {
	marks := slices.Clone(e.marks)
	var rest []byte
	for _, g := range c.Rest {
		out, mark := e.group(rest, c, g, e.size+len(rest) > 0)
		if rest = out; mark > 0 {
			marks = append(marks, e.size+mark)
		}
	}
	marks = marks[max(0, len(marks)-e.grammar.Marks):]
	segments := make([][]byte, 0, len(e.blocks)+2*len(marks)+4)
	segments = append(segments, e.head)
	if e.size+len(rest) > 0 && e.head[len(e.head)-1] != '[' {
		segments = append(segments, []byte{','})
	}
	at := 0
	for _, block := range append(slices.Clone(e.blocks), rest) {
		end := at + len(block)
		for len(marks) > 0 && marks[0] <= end {
			cut := marks[0] - at
			segments = append(segments, block[:cut:cut], []byte(e.grammar.Mark))
			block, at, marks = block[cut:], marks[0], marks[1:]
		}
		segments, at = append(segments, block[:len(block):len(block)]), end
	}
	return Body{Segments: append(segments, e.grammar.Tail(nil, c))}
}
