package jail

import (
	"bytes"
	"reflect"
	"testing"
)

func TestPlanArrivesAsItWasSent(t *testing.T) {
	p := Plan{
		Path: "/bin/sh", Dir: "/w", Argv: []string{"sh", "-c", "x\ny"}, Env: []string{"A=1", ""}, Whole: true, Confine: true,
		Caps: 1<<40 | 3, Nice: 5, Most: 1 << 33, Tmp: "/t", Write: []string{"/w"}, Replace: []string{"/etc/passwd", "root"}, Unwanted: []string{"/x"},
	}
	var got Plan
	if err := got.Decode(p.Encode()); err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("%+v\n%+v\n%v", got, p, err)
	}
}

func TestEveryFieldOfAPlanTravels(t *testing.T) {
	var p Plan
	if want := reflect.TypeFor[Plan]().NumField(); len(p.fields()) != want {
		t.Errorf("%d of %d fields travel", len(p.fields()), want)
	}
}

func TestAPlanOfAnotherVersionIsRefused(t *testing.T) {
	body := (&Plan{Path: "/bin/true"}).Encode()
	body[0]++
	if err := new(Plan).Decode(body); err == nil {
		t.Error("it was read")
	}
}

func TestMessagesAreReadWholeOrNotAtAll(t *testing.T) {
	message := append(Header(Failed, 5), "12345"...)
	kind, body, err := Read(bytes.NewReader(message))
	if kind != Failed || string(body) != "12345" || err != nil {
		t.Errorf("%c %q %v", kind, body, err)
	}
	for n := range message {
		if _, _, err := Read(bytes.NewReader(message[:n])); err == nil {
			t.Errorf("%d of %d bytes were enough", n, len(message))
		}
	}
	if _, _, err := Read(bytes.NewReader(Header(Run, maxBody+1))); err == nil {
		t.Error("a message without end was begun")
	}
}

func TestAroundLeavesOutNoMoreThanItMust(t *testing.T) {
	dir := t.TempDir()
	if got := Around(dir, []string{"/elsewhere"}); !reflect.DeepEqual(got, []string{dir}) {
		t.Errorf("%q", got)
	}
	if got := Around(dir, []string{dir}); got != nil {
		t.Errorf("%q", got)
	}
	if Within("/a/bc", "/a/b") || !Within("/a/b", "/a/b") || !Within("/a/b/c", "/a/b") || !Within("/x", "/") {
		t.Error("Within")
	}
}

func FuzzPlan(f *testing.F) {
	f.Add((&Plan{Argv: []string{"a", "b"}, Env: []string{"x"}}).Encode())
	f.Add([]byte{1, 0, 0, 0, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, body []byte) {
		var p, q Plan
		if p.Decode(body) != nil {
			return
		}
		if err := q.Decode(p.Encode()); err != nil || !reflect.DeepEqual(p, q) {
			t.Errorf("%+v %+v %v", p, q, err)
		}
	})
}
