package walk

import (
	"testing"

	"golang.org/x/sys/unix"
)

func makeSlow(r *Root) { r.slow = true }

func TestTheFastWayIsTakenWhereThereIsOne(t *testing.T) {
	how := unix.OpenHow{Flags: unix.O_PATH, Resolve: unix.RESOLVE_BENEATH}
	fd, err := unix.Openat2(unix.AT_FDCWD, ".", &how)
	if err != nil {
		t.Skipf("openat2 is missing or forbidden here: %v", err)
	}
	unix.Close(fd)
	r, err := OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.slow {
		t.Error("openat2 works, but was not taken")
	}
}
