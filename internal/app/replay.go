package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"ikigai/internal/convo"
	"ikigai/internal/headless"
)

func (a *app) replayCommand() *cobra.Command {
	return &cobra.Command{
		Use: "replay FILE", Short: "Play an exported session back", Args: cobra.ExactArgs(1),
		Long: `Play back what ikigai session export --jsonl wrote, as ikigai session show shows
it. It needs no network, no key and no store; - is standard input.`,
		RunE: func(_ *cobra.Command, args []string) error { return a.replay(args[0]) },
	}
}

func (a *app) replay(name string) error {
	in, err := a.openExport(name)
	if err != nil {
		return &fault{headless.ExitUsage, "opening " + name + ": " + err.Error(), "ikigai session export ID --jsonl -o FILE makes one"}
	}
	defer in.Close()
	shown, bad := 0, 0
	err = eachExported(in, func(line int, e convo.Event, err error) {
		if err != nil {
			bad++
			fmt.Fprintf(a.env.Stderr, "%s:%d: %v\n", name, line, err)
			return
		}
		shown++
		a.showEvent(e)
	})
	switch {
	case err != nil:
		return &fault{headless.ExitFailure, "reading " + name + ": " + err.Error(), ""}
	case bad > 0:
		return &fault{headless.ExitFailure, fmt.Sprintf("%s of %s could not be played", several(bad, "line"), name), ""}
	case shown == 0:
		return &fault{headless.ExitUsage, name + " has no events", "ikigai session export ID --jsonl -o FILE makes one"}
	}
	return nil
}

func (a *app) openExport(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.env.Stdin), nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(a.env.Dir, name)
	}
	return os.Open(name)
}

// maxExported is the longest line that is read: far more than any event has.
const maxExported = 256 << 20

// eachExported reads events, one per line. A line that is none has an error.
func eachExported(r io.Reader, each func(line int, e convo.Event, err error)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxExported)
	for n := 1; lines.Scan(); n++ {
		raw := bytes.TrimSpace(lines.Bytes())
		if len(raw) == 0 {
			continue
		}
		var e convo.Event
		err := json.Unmarshal(raw, &e)
		if err == nil && e.Kind == "" {
			err = errors.New("no event: it has no kind")
		}
		each(n, e, err)
	}
	return lines.Err()
}
