package jail

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// A message asks for a program to be run.
type message struct {
	plan  Plan
	files []int // what the program gets as 0, 1 and 2
	err   error // the plan could not be read
}

// closeFiles closes our copies; the second time there are none.
func (m *message) closeFiles() {
	for _, fd := range m.files {
		_ = unix.Close(fd)
	}
	m.files = nil
}

// receive reads one message; nil says that the agent is gone. The files travel
// with its first byte.
func receive() *message {
	h := make([]byte, headerSize)
	oob := make([]byte, unix.CmsgSpace(3*4))
	n, oobn, err := receiveSome(h, oob)
	if err != nil || n == 0 {
		return nil
	}
	if _, err := io.ReadFull(control{}, h[n:]); err != nil {
		return nil
	}
	_, body, err := readBody(control{}, h)
	if err != nil {
		return nil
	}
	m := &message{}
	if m.files, err = rights(oob[:oobn]); err != nil {
		m.err = doing("receiving the program's files", err)
		return m
	}
	m.err = m.plan.Decode(body)
	return m
}

func receiveSome(p, oob []byte) (n, oobn int, err error) {
	for {
		n, oobn, _, _, err = unix.Recvmsg(Control, p, oob, unix.MSG_CMSG_CLOEXEC)
		if err != unix.EINTR {
			return n, oobn, err
		}
	}
}

func rights(oob []byte) ([]int, error) {
	all, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if fds, err := unix.ParseUnixRights(&all[i]); err == nil && len(fds) == 3 {
			return fds, nil
		}
	}
	return nil, errors.New("there are not three")
}

// control reads the rest of a message.
type control struct{}

func (control) Read(p []byte) (int, error) {
	n, _, err := receiveSome(p, nil)
	if err == nil && n == 0 && len(p) > 0 {
		err = io.EOF
	}
	return n, err
}

// urgent reads what concerns the program that runs.
type urgent struct{}

func (urgent) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(Urgent, p)
		if err == unix.EINTR {
			continue
		}
		if err == nil && n == 0 && len(p) > 0 {
			err = io.EOF
		}
		return n, err
	}
}
