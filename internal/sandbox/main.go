package sandbox

import (
	"os"
	"sync/atomic"

	"ikigai/internal/sandbox/jail"
)

// servesItself says that this program called Main. Without that, starting it
// as a helper would start all of it once more, and once more from there.
var servesItself atomic.Bool

// Main makes a program serve as its own ikigai-init where that is not
// installed. A program that uses a Sandbox calls it first in main; it returns
// unless the program was started to be the helper.
func Main() {
	if len(os.Args) > 0 && os.Args[0] == jail.Name {
		os.Exit(jail.Main())
	}
	servesItself.Store(true)
}
