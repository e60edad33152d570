package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ikigai/internal/fake"
)

// TestKilledAtRandomLosesNothingThatWasShown kills a run at random moments while
// it streams, calls and edits, and compares what stream-json had shown with what
// the store holds. IKIGAI_SOAK makes it long.
func TestKilledAtRandomLosesNothingThatWasShown(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 6
	}
	if os.Getenv("IKIGAI_SOAK") != "" {
		rounds = 500
	}
	bin := buildIkigai(t)
	dir := t.TempDir()
	p := &prey{t: t, bin: bin, dir: dir, rnd: rand.New(rand.NewPCG(4, 2))}
	if err := os.WriteFile(filepath.Join(dir, "file.txt"), []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	shown := 0
	for i := range rounds {
		session, ids := p.hunt()
		shown += len(ids)
		if session != "" {
			p.compare(session, ids)
		}
		if i%10 == 9 {
			p.goOn()
		}
	}
	t.Logf("%d kills, %d results shown, 0 lost", rounds, shown)
	if shown == 0 {
		t.Error("nothing was ever shown: the test kills too early to prove anything")
	}
}

type prey struct {
	t        *testing.T
	bin, dir string
	rnd      *rand.Rand
}

func (p *prey) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.bin, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(p.dir, "home"), "OPENAI_API_KEY=sk-test-0123456789", "NO_PROXY=*", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_CACHE_HOME=")
	return cmd
}

// script is a model that reads, edits and runs without end.
func script() []fake.Reply {
	var s []fake.Reply
	for i := range 60 {
		s = append(s, fake.Reply{Text: "some words about it", Pieces: 4, Calls: []fake.Call{
			{ID: fmt.Sprint("r", i), Name: "file_read", Args: json.RawMessage(`{"path":"file.txt"}`)},
			{ID: fmt.Sprint("w", i), Name: "file_write", Args: json.RawMessage(fmt.Sprintf(`{"path":"new%d.txt","content":"x"}`, i))},
			{ID: fmt.Sprint("b", i), Name: "bash", Args: json.RawMessage(`{"command":"echo tick"}`)},
		}})
	}
	return append(s, fake.Reply{Text: "done"})
}

// hunt starts a run, kills it after a while, and gives its session and the calls
// whose results it had shown.
func (p *prey) hunt() (session string, ids []string) {
	m := fake.NewModel(script())
	defer m.Close()
	cmd := p.command("run", "--model", "openai/scripted", "--base-url", m.URL+"/v1", "--mode", "yolo", "--output", "stream-json", "--max-turns", "100", "go")
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	time.AfterFunc(time.Duration(20+p.rnd.IntN(400))*time.Millisecond, func() { cmd.Process.Kill() })
	s := bufio.NewScanner(out)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var line struct {
			Type    string
			Session string `json:"session_id"`
			Call    string `json:"call_id"`
		}
		if json.Unmarshal(s.Bytes(), &line) != nil {
			break // the line that was cut was not shown
		}
		session = line.Session
		if line.Type == "tool_call_end" {
			ids = append(ids, line.Call)
		}
	}
	cmd.Wait() // it was killed
	return session, ids
}

// compare looks for every shown result in the store.
func (p *prey) compare(session string, ids []string) {
	p.t.Helper()
	out, err := p.command("session", "show", "--jsonl", session).CombinedOutput()
	if err != nil {
		if strings.Contains(string(out), "no session") && len(ids) == 0 {
			return // killed before it began
		}
		p.t.Fatalf("the store does not open: %v\n%s", err, out)
	}
	for _, id := range ids {
		if !strings.Contains(string(out), `"data_json":{"tool_call_id":"`+id+`"`) {
			p.t.Errorf("session %s: the result of %s was shown and is not stored", session, id)
		}
	}
}

// goOn continues the newest session, whatever state it was killed in.
func (p *prey) goOn() {
	p.t.Helper()
	m := fake.NewModel([]fake.Reply{{Text: "going on"}})
	defer m.Close()
	out, err := p.command("run", "--continue", "--model", "openai/scripted", "--base-url", m.URL+"/v1", "and now?").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "going on") {
		p.t.Errorf("--continue: %v\n%s", err, out)
	}
	if out, err := p.command("audit", "verify").CombinedOutput(); err != nil {
		p.t.Errorf("audit verify: %v\n%s", err, out)
	}
}
