//go:build !linux

package jail

// Main has nothing to do on this system: no helper is ever started.
func Main() int { return 1 }
