//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ikigai/internal/fake"
	"ikigai/internal/store/storetest/cluster"
)

// TestKilledAtRandomLosesNothingThatWasShown kills the real program at random
// moments, on both stores: while it streams, calls, edits and compacts, and
// while it undoes and redoes. What it had shown must be stored, the session must
// go on, files must be whole, and no process may be left. IKIGAI_SOAK makes it
// long: 500 kills for each store.
func TestKilledAtRandomLosesNothingThatWasShown(t *testing.T) {
	kills := 15
	if testing.Short() {
		kills = 5
	}
	if os.Getenv("IKIGAI_SOAK") != "" {
		kills = 500
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		newPrey(t, "").season(kills)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		newPrey(t, cluster.Need(t).Address("kills")).season(kills)
	})
}

// prey is a program that is killed again and again at one desk.
type prey struct {
	*desk
	rnd  *rand.Rand
	mark string // in the arguments of every program that a tool starts

	runs, undos, cuts                 int // what was killed; undos that were on their way
	results, thinned, summed, resumed int
}

func newPrey(t *testing.T, store string) *prey {
	p := &prey{desk: newDesk(t), rnd: rand.New(rand.NewPCG(4, 2)), mark: fmt.Sprintf("prey-%d-%d", os.Getpid(), time.Now().UnixNano())}
	p.plant()
	for i := range 400 {
		name := filepath.Join(p.ws, "many", fmt.Sprint("d", i%10), fmt.Sprint("f", i))
		p.must(os.MkdirAll(filepath.Dir(name), 0o755))
		p.must(os.WriteFile(name, []byte(strings.Repeat("as it was\n", i/4)), 0o644))
	}
	p.must(os.WriteFile(filepath.Join(p.ws, "large"), []byte(strings.Repeat("thirty-two bytes are on one line\n", 1000)), 0o644))
	if store != "" {
		p.env = []string{"IKIGAI_STORE=" + store}
	}
	return p
}

// season kills so often. Of five kills three are of runs, one is of an undo and
// one of a redo.
func (p *prey) season(kills int) {
	for p.runs+p.undos < kills {
		for range 3 {
			p.huntRun()
		}
		p.huntUndo()
		if p.Failed() {
			p.FailNow() // the rest would say the same
		}
	}
	p.want(0, "audit", "verify")
	p.Logf("%d kills of runs, %d of undo and redo (%d on their way): %d results shown and none lost, output thinned %d times and %d summaries, %d of %d sessions went on, no process left",
		p.runs, p.undos, p.cuts, p.results, p.thinned, p.summed, p.resumed, p.runs)
	if p.results == 0 || p.thinned+p.summed == 0 {
		p.Error("nothing was shown or compacted: the test kills too early to prove anything")
	}
}

// endless is a model that reads, writes and runs, so much that the conversation
// outgrows its window again and again.
func (p *prey) endless() []fake.Reply {
	var s []fake.Reply
	for i := range 60 {
		s = append(s, fake.Reply{Text: "some words about it", Pieces: 4, Calls: []fake.Call{
			{ID: fmt.Sprint("r", i), Name: "file_read", Args: json.RawMessage(`{"path":"large"}`)},
			{ID: fmt.Sprint("w", i), Name: "file_write", Args: json.RawMessage(fmt.Sprintf(`{"path":"new%d.txt","content":"%s"}`, i, strings.Repeat("what is written is not thinned ", 500)))},
			{ID: fmt.Sprint("b", i), Name: "bash", Args: json.RawMessage(fmt.Sprintf(`{"command":"echo %s; sed -i s/was/is/ many/d8/f%d8"}`, p.mark, i%15))},
		}})
	}
	return append(s, fake.Reply{Text: "done"})
}

// huntRun starts a run and kills it after a while; then it compares and goes on.
func (p *prey) huntRun() {
	p.Helper()
	m := fake.NewModel(p.endless())
	defer m.Close()
	cmd := p.command("run", "--model", "openai/scripted", "--base-url", m.URL+"/v1", "--mode", "yolo", "--output", "stream-json", "--max-turns", "100", "go")
	out, err := cmd.StdoutPipe()
	p.must(err)
	p.must(cmd.Start())
	lines, wait := p.rnd.IntN(200), time.Duration(p.rnd.IntN(30_000))*time.Microsecond
	if p.rnd.IntN(5) == 0 { // before it has said a word
		lines, wait = 0, 2*wait
	}
	session, shown := readShown(bufio.NewScanner(out), lines, func() { time.AfterFunc(wait, func() { cmd.Process.Kill() }) })
	cmd.Wait() // it was killed
	p.runs++
	p.results += len(shown["tool_call_end"])
	p.nobodyLeft()
	if session != "" {
		p.compare(session, shown)
	} else {
		p.resumed++ // it was killed before it began: there is nothing to go on with
	}
}

// readShown gives the session and the ids of the calls that were shown, by the
// type of line, and calls enough after so many lines. A line that was cut was
// not shown.
func readShown(s *bufio.Scanner, lines int, enough func()) (session string, shown map[string][]string) {
	s.Buffer(nil, 1<<20)
	shown = map[string][]string{}
	for n := 0; ; n++ {
		if n == lines {
			enough()
		}
		var line struct {
			Type    string
			Session string `json:"session_id"`
			Call    string `json:"call_id"`
		}
		if !s.Scan() || json.Unmarshal(s.Bytes(), &line) != nil {
			return session, shown
		}
		session = line.Session
		shown[line.Type] = append(shown[line.Type], line.Call)
	}
}

// compare looks for all that was shown in the store, and goes on.
func (p *prey) compare(session string, shown map[string][]string) {
	p.Helper()
	calls := len(shown["tool_call_start"]) + len(shown["permission"]) + len(shown["tool_call_end"])
	stored, ok := p.stored(session, calls == 0)
	if !ok {
		p.resumed++
		return // killed before it began
	}
	p.thinned += stored["command"]
	p.summed += stored["summary"]
	for kind, of := range map[string]string{"tool_call_start": "tool_call ", "permission": "decision ", "tool_call_end": "tool_result "} {
		for _, id := range shown[kind] {
			if stored[of+id] == 0 {
				p.Errorf("session %s: %s of call %s was shown and is not stored", session, kind, id)
			}
		}
	}
	p.goOn(session)
}

// stored counts the events of a session, by kind and by kind and call.
func (p *prey) stored(session string, mayMiss bool) (map[string]int, bool) {
	p.Helper()
	out, code := p.ikigai("session", "show", "--jsonl", session)
	if code == 2 && strings.Contains(out, "no session") && mayMiss {
		return nil, false
	}
	if code != 0 {
		p.Fatalf("the store does not open: exit code %d\n%s", code, out)
	}
	count := map[string]int{}
	for line := range strings.Lines(out) {
		var e struct {
			Kind string
			Data struct {
				ID     string
				CallID string `json:"tool_call_id"`
				Of     string `json:"call_id"`
			} `json:"data_json"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			p.Fatalf("the store holds what cannot be read: %v\n%s", err, line)
		}
		count[e.Kind]++
		count[e.Kind+" "+e.Data.ID+e.Data.CallID+e.Data.Of]++
	}
	return count, true
}

// goOn continues a session, whatever state it was killed in, and sees that each
// call has one answer then.
func (p *prey) goOn(session string) {
	p.Helper()
	m := fake.NewModel([]fake.Reply{{Text: "going on", Repeat: 9}}) // summaries take some
	defer m.Close()
	out := p.whenFree(0, "run", "--session", session, "--model", "openai/scripted", "--base-url", m.URL+"/v1", "and now?")
	if !strings.Contains(out, "going on") {
		p.Errorf("session %s does not go on:\n%s", session, out)
		return
	}
	p.resumed++
	stored, _ := p.stored(session, false)
	for what, n := range stored {
		if id, ok := strings.CutPrefix(what, "tool_call "); ok && stored["tool_result "+id] != n {
			p.Errorf("session %s: call %s has %d results", session, id, stored["tool_result "+id])
		}
	}
}

// whenFree is want for a session whose process has just died: a server needs a
// moment to notice.
func (p *prey) whenFree(code int, args ...string) string {
	p.Helper()
	for range 200 {
		out, got := p.ikigai(args...)
		if got == code {
			return out
		}
		if !strings.Contains(out, "is open in another ikigai") {
			p.Fatalf("ikigai %s: exit code %d\n%s", strings.Join(args, " "), got, out)
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.Fatalf("ikigai %s: the session of a dead process stays busy", strings.Join(args, " "))
	return ""
}

// nobodyLeft waits until every program that a killed run had started is gone.
func (p *prey) nobodyLeft() {
	p.Helper()
	var left []string
	for range 500 {
		if left = append(processes(p.mark), processes(p.bin)...); len(left) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.Errorf("still running: %q", left)
}

// huntUndo kills an undo of a turn, and finishes it; then the same with redo.
func (p *prey) huntUndo() {
	p.Helper()
	was := p.state()
	p.turn(bash(`rm -r many/d1; sed -i s/was/is/ many/d2/* many/d3/*; mv many/d4 many/d40; chmod 600 many/d5/*; rm many/d6/*; ln -s ../a.txt many/d6/f6
		rm -r many/d7; echo file > many/d7; mkdir -p new/er; echo new > new/er/file; ln -sfn many link`))
	is := p.state()
	p.kill(was, is, "undo")
	p.kill(is, was, "undo", "--redo")
	p.whenFree(0, "undo") // for the next
	p.same("after all", p.state(), was)
}

// kill starts an undo or redo, kills it, and has it finished: each path holds
// what it had or what it shall have, and in the end all is exact.
func (p *prey) kill(to, from map[string]string, args ...string) {
	p.Helper()
	p.killRestoring(args)
	p.undos++
	half := p.state()
	if !maps.Equal(half, to) && !maps.Equal(half, from) {
		p.cuts++
	}
	for path, now := range half {
		if now[0] == '-' && now != to[path] && now != from[path] && !strings.Contains(path, ".ikigai-undo-") {
			p.Errorf("%v: %s is neither what it was nor what it shall be: %.60q", args, path, now)
		}
	}
	if !p.over(args) {
		p.whenFree(0, args...)
	}
	p.same(strings.Join(args, " "), p.state(), to)
}

// killRestoring kills an undo or redo: mostly when it has begun to change files,
// sometimes at any moment.
func (p *prey) killRestoring(args []string) {
	p.Helper()
	cmd := p.command(args...)
	p.must(cmd.Start())
	over := make(chan struct{})
	go func() {
		cmd.Wait() // it is killed, or ends before
		close(over)
	}()
	begun := filepath.Join(p.home, ".local/share/ikigai/snapshots/restoring-*.json")
	for early := p.rnd.IntN(10) == 0; !early; {
		found, _ := filepath.Glob(begun) // the pattern is right
		early = len(found) > 0 || closed(over)
		time.Sleep(200 * time.Microsecond)
	}
	time.Sleep(time.Duration(p.rnd.IntN(10_000)) * time.Microsecond)
	cmd.Process.Kill() // it may have ended
	<-over
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// over reports whether the trail says that the undo or redo is done: asking for
// it once more would be another one.
func (p *prey) over(args []string) bool {
	p.Helper()
	out := p.want(0, "undo", "--list")
	undoable := strings.Contains(out, "turn 1")
	return undoable == (len(args) > 1)
}
