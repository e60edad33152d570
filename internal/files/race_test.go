package files

import (
	"os"
	"strings"
	"testing"

	"ikigai/internal/tool"
)

const rounds = 500

// A race is two states of a name that another thread switches between, and a
// name that is used meanwhile.
type race struct {
	name     string
	a, b     func(s stage) // make the two states as {WS}/a and {WS}/b
	op, path string
}

var races = []race{
	{"file and link to an outside file", fileA, func(s stage) { s.link("b", "{OUT}/s.txt") }, "read", "x"},
	{"file and link to an outside file", fileA, func(s stage) { s.link("b", "{OUT}/s.txt") }, "write", "x"},
	{"folder and link to an outside folder", folderA, func(s stage) { s.link("b", "{OUT}") }, "read", "x/s.txt"},
	{"folder and link to an outside folder", folderA, func(s stage) { s.link("b", "{OUT}") }, "write", "x/s.txt"},
	{"folder and link to an outside folder", folderA, func(s stage) { s.link("b", "{OUT}") }, "write", "x/new.txt"},
	{"folder and link to an outside folder", folderA, func(s stage) { s.link("b", "../out") }, "mkdir", "x/new/deep"},
	{"folder and link to an outside folder", folderA, func(s stage) { s.link("b", "{OUT}") }, "list", "x"},
	{"deep and shallow folder under dots", deepA, func(s stage) { s.dir("b") }, "read", "x/y/../../out/s.txt"},
	{"folder and pipe", folderA, func(s stage) { s.must(mkfifo(s.path("b"))) }, "read", "x/s.txt"},
	{"file and pipe", fileA, func(s stage) { s.must(mkfifo(s.path("b"))) }, "read", "x"},
	{"two links, in and out", func(s stage) { s.file("in.txt", "fine"); s.link("a", "in.txt") }, func(s stage) { s.link("b", "{OUT}/s.txt") }, "read", "x"},
}

func fileA(s stage)   { s.file("a", "fine") }
func folderA(s stage) { s.file("a/s.txt", "fine") }
func deepA(s stage)   { s.dir("a/y"); s.file("out/s.txt", "fine") }

func TestSwappingNamesNeverReachesTheOutside(t *testing.T) {
	for _, c := range races {
		t.Run(c.op+" "+c.path+" with "+c.name, func(t *testing.T) {
			s := newStage(t)
			s.file("{OUT}/s.txt", "secret")
			s.file("{OUT}/secret.txt", "for lists")
			c.a(s)
			c.b(s)
			r := s.open()
			before := s.outside()
			defer swapping(s)()
			answers := map[string]int{}
			for range rounds {
				got, err := perform(r, c.op, c.path)
				answers[Outcome(err)]++
				if strings.Contains(got, "secret") {
					t.Fatal("SAFETY: read a secret")
				}
			}
			t.Log(answers)
			if !equal(before, s.outside()) {
				t.Error("SAFETY: the outside changed")
			}
		})
	}
}

// A link to the hooks under a changing name must not be a way round protection,
// although it never leaves the root.
func TestSwappingNamesNeverReachesProtectedFiles(t *testing.T) {
	s := newStage(t)
	s.dir("a")
	s.file(".git/hooks/keep", "old")
	s.link("b", ".git/hooks")
	r := s.open()
	defer swapping(s)()
	for range rounds {
		_ = r.WriteFile("x/evil", []byte("#!/bin/sh"), tool.Stamp{})
		_ = r.Mkdir("x/evil.d")
	}
	entries, err := os.ReadDir(s.path(".git/hooks"))
	s.must(err)
	if len(entries) != 1 {
		t.Errorf("SAFETY: .git/hooks has %v", entries)
	}
}

// A granted path that is swapped for a link does not lead to what was not granted.
func TestSwappingAGrantedPathReachesNothingElse(t *testing.T) {
	s := newStage(t)
	s.file("{OUT}/s.txt", "secret")
	s.file("a", "fine")
	s.link("b", "{OUT}/s.txt")
	elsewhere := t.TempDir()
	r, err := Open(elsewhere)
	s.must(err)
	defer r.Close()
	granted := r.With(tool.Grant{Read: []string{s.path("x")}, Write: []string{s.path("x")}})
	before := s.outside()
	defer swapping(s)()
	for range rounds {
		if data, _, _ := granted.ReadFile(s.path("x")); string(data) == "secret" {
			t.Fatal("SAFETY: read what was not granted")
		}
		_ = granted.WriteFile(s.path("x"), []byte("fine"), tool.Stamp{})
	}
	if !equal(before, s.outside()) {
		t.Error("SAFETY: wrote what was not granted")
	}
}

// swapping renames a and then b to x and back until it is stopped.
func swapping(s stage) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			default:
			}
			state := s.path([]string{"a", "b"}[i%2])
			if os.Rename(state, s.path("x")) != nil { // a write made something of that name
				_ = os.RemoveAll(s.path("x"))
			}
			_ = os.Rename(s.path("x"), state)
		}
	}()
	return func() { close(quit); <-done }
}
