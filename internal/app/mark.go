package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"ikigai/internal/walk"
)

// mark tells whether any file of the workspace changed, by name, size and times:
// nothing is read. Ignored files do not count.
func (a *app) mark(h *house) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		sum := sha256.New()
		for _, root := range h.roots {
			list, err := walk.List(ctx, root, walk.Options{Hidden: true, Home: a.env.Home})
			if err != nil {
				return "", fmt.Errorf("looking at %s: %w", root, err)
			}
			for _, e := range list {
				info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(e.Path)))
				if err != nil {
					continue // it is going away: the next mark is another one
				}
				fmt.Fprintf(sum, "%s\x00%d %d %o\n", e.Path, info.Size(), info.ModTime().UnixNano(), info.Mode())
			}
		}
		return hex.EncodeToString(sum.Sum(nil)), nil
	}
}
