package tool

import (
	"sync"
	"testing"
)

type memoKey string

func TestAMemoMakesAThingOnce(t *testing.T) {
	m, made := &Memo{}, 0
	ask := func(m *Memo, key string) *int {
		return Remember(m, memoKey(key), func() *int { made++; n := made; return &n })
	}
	first := ask(m, "a")
	if ask(m, "a") != first || made != 1 {
		t.Errorf("made %d times", made)
	}
	if ask(m, "b") == first || made != 2 {
		t.Errorf("another key gives the same")
	}
	if ask(nil, "a"); made != 3 {
		t.Error("a nil Memo does not make")
	}
	if ask(nil, "a"); made != 4 {
		t.Error("a nil Memo remembers")
	}
}

func TestAMemoForgetsWhatWasUsedLeastRecently(t *testing.T) {
	m, made := &Memo{}, 0
	ask := func(key int) { Remember(m, key, func() int { made++; return key }) }
	for key := range mostMemories {
		ask(key)
	}
	ask(0)
	ask(mostMemories) // in the place of 1
	if ask(0); made != mostMemories+1 {
		t.Error("what was used a moment ago is forgotten")
	}
	if ask(1); made != mostMemories+2 {
		t.Error("more is kept than there may be")
	}
	if len(m.kept) != mostMemories {
		t.Errorf("%d things are kept", len(m.kept))
	}
}

func TestAMemoServesSeveralCallsAtOnce(t *testing.T) {
	m := &Memo{}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for key := range 40 {
				if got := Remember(m, key, func() int { return key }); got != key {
					t.Errorf("%d under %d", got, key)
				}
			}
		})
	}
	group.Wait()
	if len(m.kept) != mostMemories {
		t.Errorf("%d things are kept", len(m.kept))
	}
}
