//go:build !linux

package walk

// A watcher is not to be had here.
type watcher struct{ most int }

func newWatcher() *watcher { return nil }

func (*watcher) add(*Root, string) (int32, Mark, bool) { return 0, Mark{}, false }

func (*watcher) end(int32) {}

func (*watcher) changes(func(id int32, ended bool)) bool { return false }
