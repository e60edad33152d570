package sandbox

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	Main() // the test binary is its own helper
	os.Exit(m.Run())
}
