//go:build !race

package jail

// watched is for the race detector.
var watched []string
