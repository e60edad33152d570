//go:build !amd64 || !goexperiment.simd || go1.27

package search

// Without wide registers nothing is passed over by them: see wide_amd64.go.

func wide() bool { return false }

func (*pair) skim(_ []byte, i int) int { return i }

type nibbles struct{}

func newNibbles() *nibbles { return nil }

func (*nibbles) add(int, *needle, *pair) {}

func (*nibbles) skim(_ []byte, i int) int { return i }
