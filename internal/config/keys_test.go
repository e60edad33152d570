package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestKeysAreForTheirOwnerAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "keys.json")
	keys, err := ReadKeys(file)
	if err != nil || len(keys) != 0 {
		t.Fatalf("no file: %v, %v", keys, err)
	}
	keys["openai"] = Key{Key: "sk-1"}
	keys["xai"] = Key{Command: "pass xai"}
	if err := keys.Save(file); err != nil {
		t.Fatal(err)
	}
	again, err := ReadKeys(file)
	if err != nil || again["openai"].Key != "sk-1" || again["xai"].Command != "pass xai" {
		t.Fatalf("read again: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o644, 0o620} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		var exposed *ExposedError
		if _, err := ReadKeys(file); !errors.As(err, &exposed) || !strings.Contains(exposed.Fix(), "chmod 600") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if err := keys.Save(file); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("after another Save the mode is %v", info.Mode())
	}
}

func TestADamagedKeyFileIsNotQuoted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.json")
	for _, text := range []string{`sk-secret`, `{"openai": "sk-secret"}`, `{"openai": {"key": sk-secret`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadKeys(file); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAFailedSaveLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "keys.json")
	if err := os.Mkdir(file, 0o700); err != nil { // a folder is in the way
		t.Fatal(err)
	}
	if err := (Keys{"a": {Key: "b"}}).Save(file); err == nil {
		t.Error("it replaced a folder")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}
