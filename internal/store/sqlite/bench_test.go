package sqlite_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ikigai/internal/bench"
	"ikigai/internal/convo"
	"ikigai/internal/store"
	"ikigai/internal/store/sqlite"
	"ikigai/internal/store/storetest"
)

func BenchmarkAppend(b *testing.B) { storetest.BenchmarkAppend(b, benchStore(b)) }
func BenchmarkFlush(b *testing.B)  { storetest.BenchmarkFlush(b, benchStore(b)) }
func BenchmarkSync(b *testing.B)   { storetest.BenchmarkSync(b, benchStore(b)) }
func BenchmarkSearch(b *testing.B) { storetest.BenchmarkSearch(b, benchStore(b), 50_000) }

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int64{10_000, 50_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { storetest.BenchmarkLoad(b, benchStore(b), n) })
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.db")
	for b.Loop() {
		s, err := sqlite.Open(b.Context(), path, sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchStore(b *testing.B) store.Store {
	return open(b, filepath.Join(b.TempDir(), "a.db"), sqlite.Options{})
}

// TestBenchStore is a part of make bench: our store beside a plain log, a file
// with an event as a line of JSON.
func TestBenchStore(t *testing.T) {
	dir := os.Getenv(bench.DirVariable)
	if dir == "" {
		t.Skip("make bench sets " + bench.DirVariable)
	}
	rows := []bench.Row{
		benchLoad(t, 10_000, "under 150 ms of CPU"),
		benchLoad(t, 50_000, "under 1,000 ms of CPU"),
		benchAppend(t),
	}
	if err := bench.Write(dir, "store", rows); err != nil {
		t.Fatal(err)
	}
}

const plainLog = "JSON lines, encoding/json"

func benchLoad(t *testing.T, n int64, goal string) bench.Row {
	s := open(t, filepath.Join(t.TempDir(), "a.db"), sqlite.Options{})
	storetest.Fill(t, s, n)
	log := filepath.Join(t.TempDir(), "a.jsonl")
	writeLog(t, log, n)
	ours, rival := bench.Duel(5, 2, func() { storetest.Load(t, s, n) }, func() { readLog(t, log, n) })
	return bench.Against(fmt.Sprintf("open a session of %d events", n), ours, plainLog, rival, goal)
}

// logged is an event as such a log has it, with the fields of a call and a result.
type logged struct {
	Seq     int64     `json:"seq"`
	Turn    int       `json:"turn"`
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`
	Content string    `json:"content"`
	Reply   string    `json:"reply"`
	Data    *struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
		CallID  string `json:"tool_call_id"`
		Name    string `json:"name"`
		Output  string `json:"output"`
		Success bool   `json:"success"`
		TookUS  int64  `json:"took_us"`
	} `json:"data_json"`
	Keep *struct {
		Dialect string          `json:"dialect"`
		Model   string          `json:"model"`
		Data    json.RawMessage `json:"data"`
	} `json:"keep"`
}

func writeLog(t *testing.T, path string, n int64) {
	f, err := os.Create(path)
	check(t, err)
	w := bufio.NewWriter(f)
	to := json.NewEncoder(w)
	for i := int64(1); i <= n; i++ {
		check(t, to.Encode(storetest.BigEvent(i)))
	}
	check(t, w.Flush(), f.Close())
}

func readLog(t *testing.T, path string, n int64) {
	f, err := os.Open(path)
	check(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	found := int64(0)
	for ; lines.Scan(); found++ {
		check(t, json.Unmarshal(lines.Bytes(), new(logged)))
	}
	if check(t, lines.Err()); found != n {
		t.Fatalf("%d lines, want %d", found, n)
	}
}

// benchAppend is what an event costs whoever appends it; the disk is waited for
// outside of the measure.
func benchAppend(t *testing.T) bench.Row {
	const turn, turns = 64, 40
	s := open(t, filepath.Join(t.TempDir(), "a.db"), sqlite.Options{})
	check(t, s.Begin(t.Context(), storetest.NewSession("a")))
	f, err := os.Create(filepath.Join(t.TempDir(), "a.jsonl"))
	check(t, err)
	defer f.Close()
	events := make([]convo.Event, turn)
	for i := range events {
		events[i] = storetest.BigEvent(int64(i))
	}
	var ours, rival time.Duration
	seq := int64(0)
	for range turns {
		begun := time.Now()
		for _, e := range events {
			seq++
			e.Seq = seq
			check(t, s.Append(t.Context(), "a", e))
		}
		ours += time.Since(begun)
		check(t, s.Flush(t.Context()))
		begun = time.Now()
		for _, e := range events {
			raw, err := json.Marshal(e)
			check(t, err)
			_, err = f.Write(append(raw, '\n'))
			check(t, err)
		}
		rival += time.Since(begun)
	}
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 / turn / turns }
	return bench.Row{
		Workload: "append an event", OursWall: each(ours), Rival: plainLog + ", no sync", RivalWall: each(rival),
		Ratio: each(ours) / each(rival), Goal: "under 0.020 ms for who appends",
	}
}
