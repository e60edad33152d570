// Package jail is the inside of the sandbox: the helper process that stands
// between the agent and a program. In a PID namespace it is process 1, which
// mounts what the program may see; without one it is a keeper that inherits
// every orphan of the program. Either way it starts the program confined,
// reaps, and when the program or the agent ends it ends all that is left.
//
// The agent speaks to it over two sockets: by Control a Plan with the program's
// three files goes in and one answer comes out, again and again; by Urgent comes
// what concerns a program that runs. Nothing is passed by arguments or
// environment, which other processes might read. The package stays small, since
// all that a model runs waits for it: standard library without fmt, and
// golang.org/x/sys.
package jail

import (
	"errors"
	"io"
)

// Control and Urgent are the descriptors of the helper's ends of the sockets.
const (
	Control = 3
	Urgent  = 4
)

// Name is argv[0] of the helper; a program that links this package serves as
// one when it is started by that name.
const Name = "ikigai-init"

// The first argument of a helper that is to serve in namespaces of its own, on
// the machine's network or not. A second one names a control group to join.
const (
	Apart      = "apart"
	ApartOnNet = "apart-on-net"
)

// Environ is all the environment of a helper: nothing of the agent's, since a
// program may look at its parent's. It spares the runtime a look at how many
// processors there are.
func Environ() []string {
	return append([]string{"GOMAXPROCS=2", "GODEBUG=containermaxprocs=0,updatemaxprocs=0"}, watched...)
}

// A Kind is the first byte of a message.
type Kind byte

const (
	Run    Kind = 'P' // to the helper: a Plan, with three descriptors
	Term   Kind = 'T' // to the helper, urgent: ask every process of the program with this number to end
	Kill   Kind = 'K' // to the helper, urgent: kill every process of the program with this number
	Exited Kind = 'X' // from the helper: a wait status
	Failed Kind = 'E' // from the helper: an errno and what was being done
	Broken Kind = 'B' // the same, and the helper can serve nobody
)

// headerSize is the kind and the length of the body.
const headerSize = 5

// maxBody bounds a message; the kernel takes no longer argument list.
const maxBody = 16 << 20

// Header gives the first bytes of a message with a body of n bytes.
func Header(k Kind, n int) []byte {
	return AppendNumber([]byte{byte(k)}, uint32(n))
}

// AppendNumber and Number are how numbers travel. (The standard package for it
// brings reflection into a program that is started for every command.)
func AppendNumber(b []byte, n uint32) []byte {
	return append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
}

// Number reads the first four bytes of b.
func Number(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// Read reads one message.
func Read(r io.Reader) (Kind, []byte, error) {
	h := make([]byte, headerSize)
	if _, err := io.ReadFull(r, h); err != nil {
		return 0, nil, err
	}
	return readBody(r, h)
}

func readBody(r io.Reader, h []byte) (Kind, []byte, error) {
	n := Number(h[1:])
	if n > maxBody {
		return 0, nil, errors.New("a message is too long")
	}
	body := make([]byte, n)
	_, err := io.ReadFull(r, body)
	return Kind(h[0]), body, err
}

// A Plan is all the helper must know about one start. Paths are absolute.
type Plan struct {
	Turn uint64 // the number of the program, by which urgent words mean it; no two of a helper have the same
	Path string // the executable; empty for a rehearsal that starts nothing
	Dir  string
	Argv []string
	Env  []string

	Whole    bool   // we are in namespaces of our own: mount
	Confine  bool   // Landlock and seccomp
	Net      bool   // the network may be used
	Caps     uint64 // capabilities the program keeps
	Nice     uint64
	Most     uint64 // processes at once; 0 means as many as the user may
	Memory   uint64 // bytes of data of one process; 0 means no limit
	Tmp      string // the folder that is seen as /tmp; empty means the real one
	Write    []string
	Read     []string // seen although an emptied folder covers it
	Empty    []string // folders that are seen empty
	Hide     []string // what cannot be read
	Replace  []string // pairs: a file, and the text that is seen in its place
	Pin      []string // folders that cannot be renamed or removed
	Folders  []string // never writable, held by an empty folder when absent
	Files    []string // the same for files
	NewFile  []string // writable files that are made when absent, and removed if left empty
	NewDir   []string // the same for folders
	Unwanted []string // files that must not exist afterwards: absent before, and no placeholder can hold their name
}

// version changes with the fields of a Plan.
const version = 2

// fields lists the parts in the order of the wire.
func (p *Plan) fields() []any {
	return []any{
		&p.Turn, &p.Path, &p.Dir, &p.Argv, &p.Env, &p.Whole, &p.Confine, &p.Net, &p.Caps, &p.Nice, &p.Most, &p.Memory, &p.Tmp, &p.Write,
		&p.Read, &p.Empty, &p.Hide, &p.Replace, &p.Pin, &p.Folders, &p.Files, &p.NewFile, &p.NewDir, &p.Unwanted,
	}
}

// Encode gives the body of a Run message.
func (p *Plan) Encode() []byte {
	b := AppendNumber(make([]byte, 0, 8<<10), version) // an environment fits
	for _, f := range p.fields() {
		switch f := f.(type) {
		case *string:
			b = appendString(b, *f)
		case *[]string:
			b = AppendNumber(b, uint32(len(*f)))
			for _, s := range *f {
				b = appendString(b, s)
			}
		case *bool:
			b = append(b, 0)
			if *f {
				b[len(b)-1] = 1
			}
		case *uint64:
			b = AppendNumber(AppendNumber(b, uint32(*f)), uint32(*f>>32))
		}
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(AppendNumber(b, uint32(len(s))), s...)
}

// Decode reads the body of a Run message.
func (p *Plan) Decode(body []byte) error {
	d := decoder{rest: string(body)} // all texts are parts of this one
	if d.number() != version {
		return errors.New(Name + " is of another version than the agent: install them together")
	}
	for _, f := range p.fields() {
		switch f := f.(type) {
		case *string:
			*f = d.text()
		case *[]string:
			*f = d.list()
		case *bool:
			*f = d.take(1) == "\x01"
		case *uint64:
			*f = uint64(d.number()) | uint64(d.number())<<32
		}
	}
	if d.short || len(d.rest) > 0 {
		return errors.New("a plan is malformed")
	}
	return nil
}

// A decoder takes values off the front; once short, it gives only zeros.
type decoder struct {
	rest  string
	short bool
}

func (d *decoder) take(n int) string {
	if d.short || n > len(d.rest) {
		d.short = true
		return ""
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) number() uint32 {
	s := d.take(4)
	if s == "" {
		return 0
	}
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func (d *decoder) size() int {
	// Nothing has more parts than there are bytes.
	if n := int(d.number()); n <= len(d.rest) {
		return n
	}
	d.short = true
	return 0
}

func (d *decoder) text() string { return d.take(d.size()) }

func (d *decoder) list() []string {
	n := d.size()
	if n > len(d.rest)/4 { // every part has a length
		d.short = true
	}
	if n == 0 || d.short {
		return nil
	}
	list := make([]string, 0, n)
	for range n {
		list = append(list, d.text())
	}
	return list
}
