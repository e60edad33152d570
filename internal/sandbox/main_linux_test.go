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
	if os.Getenv(frontMark) != "" {
		os.Exit(frontMain())
	}
	os.Exit(m.Run())
}
