package jail

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// A message is something the agent said.
type message struct {
	kind  Kind
	plan  Plan
	files []int // of a Run: what the program gets as 0, 1 and 2
	err   error // the plan could not be read
}

// closeFiles closes our copies; the second time there are none.
func (m *message) closeFiles() {
	for _, fd := range m.files {
		_ = unix.Close(fd)
	}
	m.files = nil
}

// receive reads one message. The files travel with its first byte.
func receive() (message, error) {
	h := make([]byte, headerSize)
	oob := make([]byte, unix.CmsgSpace(3*4))
	n, oobn, err := receiveSome(h, oob)
	if err != nil {
		return message{}, err
	}
	if n == 0 {
		return message{}, io.EOF
	}
	if _, err := io.ReadFull(control{}, h[n:]); err != nil {
		return message{}, err
	}
	kind, body, err := readBody(control{}, h)
	if err != nil || kind != Run {
		return message{kind: kind}, err
	}
	m := message{kind: kind}
	if m.files, err = rights(oob[:oobn]); err != nil {
		m.err = doing("receiving the program's files", err)
		return m, nil
	}
	m.err = m.plan.Decode(body)
	return m, nil
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
