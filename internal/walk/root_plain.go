//go:build !unix

package walk

import "os"

const openFlags = os.O_RDONLY
