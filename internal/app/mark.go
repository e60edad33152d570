package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ikigai/internal/walk"
)

// mark tells whether any file of the workspace changed, by name, size and times:
// nothing is read. Ignored files do not count.
func (a *app) mark(h *house) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		sum, own := sha256.New(), a.ownFiles()
		for _, root := range h.roots {
			list, err := walk.List(ctx, root, walk.Options{Hidden: true, Home: a.env.Home})
			if err != nil {
				return "", fmt.Errorf("looking at %s: %w", root, err)
			}
			for _, e := range list {
				path := filepath.Join(root, filepath.FromSlash(e.Path))
				info, err := os.Lstat(path)
				if err != nil || within(path, own) {
					continue // it is going away, and the next mark is another one; or it is ours
				}
				fmt.Fprintf(sum, "%s\x00%d %d %o\n", e.Path, info.Size(), info.ModTime().UnixNano(), info.Mode())
			}
		}
		return hex.EncodeToString(sum.Sum(nil)), nil
	}
}

func within(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(path, f+string(filepath.Separator)) })
}
