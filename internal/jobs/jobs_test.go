package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ikigai/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// program is a scripted process: what it prints, and how it ends when ctx does
// not end it first.
type program struct {
	print   []string
	printed chan struct{} // closed when all is printed, if there is one
	end     chan tool.Exit
}

func (p *program) start(ctx context.Context, c tool.Command, _ tool.Grant) (tool.Exit, error) {
	if c.Argv[0] == "missing" {
		return tool.Exit{}, errors.New("starting missing: not found in PATH")
	}
	for _, s := range p.print {
		c.Output([]byte(s), false)
	}
	if p.printed != nil {
		close(p.printed)
	}
	select {
	case e := <-p.end:
		return e, nil
	case <-ctx.Done():
		return tool.Exit{How: tool.Cancelled, Code: 143}, nil
	}
}

func newSet(t *testing.T, p *program) *Set {
	t.Helper()
	s := New(p.start, func() time.Time { return time.Unix(1, 0) })
	t.Cleanup(s.Close)
	return s
}

func begin(t *testing.T, s *Set, argv ...string) tool.Job {
	t.Helper()
	j, err := s.Start(tool.Command{Argv: argv}, tool.Grant{})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestOutputGivesWhatIsNew(t *testing.T) {
	p := &program{print: []string{"one\n", "two\n"}, end: make(chan tool.Exit, 1)}
	s := newSet(t, p)
	j := begin(t, s, "bash", "-c", "make watch")
	if j.ID != "job_1" || !j.Running || j.Command != "make watch" || !j.Started.Equal(time.Unix(1, 0)) {
		t.Errorf("%+v", j)
	}
	for _, want := range []string{"one\ntwo\n", ""} {
		if got, err := s.Output("job_1"); err != nil || got.Text != want {
			t.Errorf("%q, %v; want %q", got.Text, err, want)
		}
	}
	p.end <- tool.Exit{Code: 3}
	for s.List()[0].Running {
		time.Sleep(time.Millisecond)
	}
	if got, _ := s.Output("job_1"); got.Exit == nil || got.Exit.Code != 3 || got.Running {
		t.Errorf("%+v", got)
	}
}

func TestKillEndsAndWaits(t *testing.T) {
	s := newSet(t, &program{print: []string{"last words"}})
	begin(t, s, "sleep", "60")
	j, err := s.Kill("job_1")
	if err != nil || j.Running || j.Exit == nil || j.Exit.How != tool.Cancelled || j.Text != "last words" {
		t.Errorf("%+v %v", j, err)
	}
	if again, err := s.Kill("job_1"); err != nil || again.Exit == nil {
		t.Errorf("killing twice: %+v %v", again, err)
	}
}

func TestTheSeventeenthJobIsRefused(t *testing.T) {
	s := newSet(t, &program{})
	for range most {
		begin(t, s, "sleep", "60")
	}
	_, err := s.Start(tool.Command{Argv: []string{"sleep"}}, tool.Grant{})
	if tool.CodeOf(err, "") != tool.LimitReached {
		t.Errorf("%v", err)
	}
	if _, err := s.Kill("job_3"); err != nil {
		t.Fatal(err)
	}
	if j := begin(t, s, "sleep"); j.ID != fmt.Sprintf("job_%d", most+1) {
		t.Errorf("%+v", j)
	}
}

func TestAProgramThatCannotStartIsAnErrorAndNoJob(t *testing.T) {
	s := newSet(t, &program{})
	if _, err := s.Start(tool.Command{Argv: []string{"missing"}}, tool.Grant{}); err == nil || len(s.List()) != 0 {
		t.Errorf("%v, %+v", err, s.List())
	}
}

func TestUnknownJobIsNotFound(t *testing.T) {
	s := newSet(t, &program{})
	if _, err := s.Output("job_9"); tool.CodeOf(err, "").Type() != tool.TypeNotFound {
		t.Errorf("%v", err)
	}
	if _, err := s.Kill("job_9"); tool.CodeOf(err, "").Type() != tool.TypeNotFound {
		t.Errorf("%v", err)
	}
}

func TestCloseEndsAllAndRefusesMore(t *testing.T) {
	s := newSet(t, &program{})
	for range 3 {
		begin(t, s, "sleep", "60")
	}
	s.Close()
	for _, j := range s.List() {
		if j.Running {
			t.Errorf("%s still runs", j.ID)
		}
	}
	if _, err := s.Start(tool.Command{Argv: []string{"true"}}, tool.Grant{}); err == nil {
		t.Error("started after Close")
	}
}

func TestEndedJobsAreForgottenAtLast(t *testing.T) {
	p := &program{end: make(chan tool.Exit, 1)}
	s := newSet(t, p)
	for range history + 10 {
		p.end <- tool.Exit{}
		begin(t, s, "true")
	}
	if n := len(s.List()); n > history+1 {
		t.Errorf("%d jobs remembered", n)
	}
}

func TestAFloodIsBoundedAndCounted(t *testing.T) {
	chunk := strings.Repeat("x", 100<<10)
	p := &program{printed: make(chan struct{})}
	for range 100 {
		p.print = append(p.print, chunk)
	}
	s := newSet(t, p)
	begin(t, s, "yes")
	<-p.printed
	j, err := s.Output("job_1")
	if err != nil || len(j.Text) != unread || j.Dropped != int64(100*len(chunk)-unread) {
		t.Errorf("%d bytes, %d dropped, %v", len(j.Text), j.Dropped, err)
	}
}

func TestACharacterIsNotTornBetweenTwoReads(t *testing.T) {
	var b buffer
	b.add([]byte("a\xe6\x97"))
	first, _ := b.take(false)
	b.add([]byte("\xa5b"))
	second, _ := b.take(false)
	if first != "a" || second != "日b" {
		t.Errorf("%q %q", first, second)
	}
	b.add([]byte("\xe6"))
	if rest, _ := b.take(true); rest != "\xe6" {
		t.Errorf("the last bytes are %q", rest)
	}
}
