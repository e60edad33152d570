//go:build !linux

package walk

func makeSlow(*Root) {}
