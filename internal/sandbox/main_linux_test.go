package sandbox

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	Main() // the test binary is its own helper
	if os.Getenv(agentMark) != "" {
		os.Exit(agentMain())
	}
	os.Exit(m.Run())
}
