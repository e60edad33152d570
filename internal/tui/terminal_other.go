//go:build !unix

package tui

import (
	"os"

	"ikigai/internal/tui/keys"
)

// read begins to read keys. A read that waits cannot be taken back here, so the
// goroutine ends with the first key after the pause.
func (t *terminal) read() {
	stop := make(chan struct{})
	t.pause = func() { close(stop); t.pause = func() {} }
	go func() {
		var p keys.Parser
		buf := make([]byte, 64<<10)
		for {
			n, err := t.in.Read(buf)
			if err != nil {
				t.hangUp()
				return
			}
			all := p.Feed(buf[:n])
			if p.Waiting() && n == 1 {
				all = append(all, p.Flush()...)
			}
			if !t.deliver(all, stop) {
				return
			}
		}
	}()
}

// signals: there are none here; the size is asked for with every frame.
func terminalSignals() (<-chan os.Signal, func()) { return nil, func() {} }

type noSignal string

func (s noSignal) Signal()        {}
func (s noSignal) String() string { return string(s) }

var (
	sizeChanged os.Signal = noSignal("size")
	continued   os.Signal = noSignal("continued")
	stopAsked   os.Signal = noSignal("stop")
	hungUpSent  os.Signal = noSignal("hangup")
)

func suspend() {}
