// Package tree is the project tree as the tools of one session share it: what
// one of them has listed the next need not list again.
package tree

import (
	"context"
	"iter"
	"os"

	"ikigai/internal/tool"
	"ikigai/internal/walk"
)

// Options are what a person may ask for beyond the default.
type Options struct {
	Hidden  bool // names that begin with a dot
	Ignored bool // what .gitignore excludes
}

// Walk gives the files below root, a real path, in order and one by one.
func Walk(ctx context.Context, m *tool.Memo, root string, o Options) iter.Seq2[walk.Entry, error] {
	if m == nil {
		return walk.Tree(ctx, root, o.walk())
	}
	return remembered(m, root).Tree(ctx, o.walk())
}

// List gives the files below root, a real path, in order and all at once.
func List(ctx context.Context, m *tool.Memo, root string, o Options) ([]walk.Entry, error) {
	if m == nil {
		return walk.List(ctx, root, o.walk())
	}
	return remembered(m, root).List(ctx, o.walk())
}

// Newest gives files below root, a real path, in the order of their time of change,
// the last one first.
func Newest(ctx context.Context, m *tool.Memo, root string, list []walk.Entry) ([]walk.Entry, error) {
	if m == nil {
		return walk.Newest(ctx, root, list)
	}
	return remembered(m, root).Newest(ctx, list)
}

// key is the root of a tree that is remembered.
type key string

func remembered(m *tool.Memo, root string) *walk.Cache {
	return tool.Remember(m, key(root), func() *walk.Cache { return walk.NewCache(root) })
}

func (o Options) walk() walk.Options {
	home, _ := os.UserHomeDir() // without one there are no global excludes
	return walk.Options{Hidden: o.Hidden, Ignored: o.Ignored, Home: home}
}
