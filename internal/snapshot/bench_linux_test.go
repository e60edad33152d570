package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// forest plants a tree like a big repository: 30,000 files in 6,000 folders.
func forest(b *testing.B) *stage {
	b.Helper()
	s := newStage(b)
	content := make([]byte, 4000)
	for i := range content {
		content[i] = "abcdefgh\n"[i%9]
	}
	s.write(".gitignore", "*.o\n/build/\nnode_modules\n*.log\n")
	for d := range 6000 {
		dir := s.path(fmt.Sprintf("top%d/sub%d/leaf%d", d%20, d%300, d))
		s.must(os.MkdirAll(dir, 0o755))
		for f := range 5 {
			s.must(os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.go", f)), fmt.Appendf(content, "%d %d", d, f), 0o644))
		}
	}
	return s
}

func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure reports the processor time of each run, of all threads.
func measure(b *testing.B, run func()) {
	b.Helper()
	start := cpu()
	n := 0
	for b.Loop() {
		run()
		n++
	}
	b.ReportMetric(float64((cpu()-start).Microseconds())/1000/float64(n), "cpu-ms/op")
}

func BenchmarkForest(b *testing.B) {
	s := forest(b)
	b.Run("first", func(b *testing.B) {
		data := s.o.Folder
		defer func() { s.o.Folder = data }()
		measure(b, func() { s.o.Folder = b.TempDir(); s.reopen(); s.take() })
	})
	s.reopen()
	time.Sleep(2100 * time.Millisecond)
	s.take()
	time.Sleep(200 * time.Millisecond)
	s.take()
	b.Run("unchanged", func(b *testing.B) { measure(b, func() { s.take() }) })
	b.Run("unchanged, new process", func(b *testing.B) { measure(b, func() { s.reopen(); s.take() }) })
	b.Run("a turn of one file", func(b *testing.B) {
		n := 0
		measure(b, func() {
			s.turn(func() { n++; s.write("top1/new.go", fmt.Sprint(n)) })
		})
	})
	b.Run("undo of one file", func(b *testing.B) {
		measure(b, func() {
			b.StopTimer()
			turn := s.turn(func() { s.write("top1/new.go", time.Now().String()) })
			b.StartTimer()
			s.undo(turn)
		})
	})
}
