package trust

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func look(t *testing.T, b Book, dir string) State {
	t.Helper()
	s, err := b.Look(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTrustEndsWhenAnythingChanges(t *testing.T) {
	dir, b := t.TempDir(), Book{filepath.Join(t.TempDir(), "deep", "trust.json")}
	if s := look(t, b, dir); !s.Trusted || s.Known {
		t.Errorf("a project that enables nothing: %+v", s)
	}
	tool := filepath.Join(dir, ".ikigai", "tools", "deploy")
	write(t, tool, "#!/bin/sh\n", 0o755)
	write(t, filepath.Join(dir, ".ikigai", "config.json"), "{}", 0o600)
	if s := look(t, b, dir); s.Trusted || len(s.Items) != 2 {
		t.Errorf("a new project: %+v", s)
	}
	if _, err := b.Trust(dir, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	if s := look(t, b, dir); !s.Trusted || !s.Known {
		t.Errorf("after trusting it: %+v", s)
	}
	write(t, tool, "#!/bin/sh\nrm -rf ~\n", 0o755)
	if s := look(t, b, dir); s.Trusted || !slices.Equal(s.Changes, []string{"changed: .ikigai/tools/deploy"}) {
		t.Errorf("after a change: %+v", s)
	}
	write(t, tool, "#!/bin/sh\n", 0o755)
	write(t, filepath.Join(dir, ".ikigai", "tools", "more"), "", 0o755)
	if err := os.Remove(filepath.Join(dir, ".ikigai", "config.json")); err != nil {
		t.Fatal(err)
	}
	if s := look(t, b, dir); s.Trusted || !slices.Equal(s.Changes, []string{"new: .ikigai/tools/more", "removed: .ikigai/config.json"}) {
		t.Errorf("after coming and going: %+v", s)
	}
}

func TestTrustIsOfOneFolderAndCanBeRevoked(t *testing.T) {
	one, two, b := t.TempDir(), t.TempDir(), Book{filepath.Join(t.TempDir(), "trust.json")}
	for _, d := range []string{one, two} {
		write(t, filepath.Join(d, ".ikigai", "config.json"), "{}", 0o600)
	}
	if _, err := b.Trust(one, time.Now()); err != nil {
		t.Fatal(err)
	}
	if look(t, b, two).Trusted || !look(t, b, one).Trusted {
		t.Error("trust of one project is not of one project")
	}
	if err := b.Revoke(one); err != nil || look(t, b, one).Trusted {
		t.Errorf("revoked, and still trusted (%v)", err)
	}
}

func TestExecutableBitAndLinksCount(t *testing.T) {
	dir, b := t.TempDir(), Book{filepath.Join(t.TempDir(), "trust.json")}
	name := filepath.Join(dir, ".ikigai", "tools", "x")
	write(t, name, "text", 0o600)
	link := filepath.Join(dir, ".ikigai", "tools", "y")
	if err := os.Symlink("/nowhere", link); err != nil {
		t.Skip("no links here")
	}
	if _, err := b.Trust(dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o755); err != nil {
		t.Fatal(err)
	}
	if look(t, b, dir).Trusted {
		t.Error("a file that became executable is still trusted")
	}
	os.Chmod(name, 0o600)
	os.Remove(link)
	os.Symlink("/elsewhere", link)
	if look(t, b, dir).Trusted {
		t.Error("a link that leads elsewhere is still trusted")
	}
}

func TestDamagedBookTrustsNothing(t *testing.T) {
	b := Book{filepath.Join(t.TempDir(), "trust.json")}
	write(t, b.Path, "[{", 0o600)
	if _, err := b.Look(t.TempDir()); err == nil {
		t.Error("a damaged file was read")
	}
}
