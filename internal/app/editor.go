package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ikigai/internal/sandbox"
)

// edit lets the person change a text in their own editor, in a file of that
// name. Nobody else can read it, and it is gone afterwards.
func (t *talk) edit(ctx context.Context, name, text string) (string, error) {
	dir, err := os.MkdirTemp("", "ikigai-edit-")
	if err != nil {
		return "", fmt.Errorf("making a folder for the editor: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("writing for the editor: %w", err)
	}
	if err := sandbox.Foreground(ctx, append(t.editor(), file), t.in, t.out, t.out); err != nil {
		return "", editorFault(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading what the editor wrote: %w", err)
	}
	return string(raw), nil
}

// editor is the program and its arguments, as the person set it.
func (t *talk) editor() []string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if words := strings.Fields(t.variable(name)); len(words) > 0 {
			return words
		}
	}
	return []string{"vi"}
}

func editorFault(err error) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no editor: %w; set VISUAL or EDITOR to one that is here", err)
	}
	return fmt.Errorf("%w; the text is as it was", err)
}
