//go:build !unix

package app

import "errors"

func makeFifo(string) error { return errors.ErrUnsupported }
