//go:build race

package jail

// watched makes the race detector end a helper at what it finds, which is seen
// by the failure of its program: nobody reads what a helper prints. Without the
// second word every helper would take a second to end.
var watched = []string{"GORACE=halt_on_error=1 atexit_sleep_ms=0"}
