package agent

import (
	"strings"
	"testing"
	"time"

	"ikigai/internal/convo"
)

func TestTimeIsLookedAtWhenItIsNearlyAndWhenItIsWhollyUsed(t *testing.T) {
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	at := func(seconds float64) time.Time { return begin.Add(time.Duration(seconds * float64(time.Second))) }
	l := newLedger(Budgets{Session: Amounts{Time: 100}}, 0, []convo.Event{convo.Of("", convo.End{TookMS: 50_000})}, Amounts{}, begin)
	l.begin(begin)
	if d, ok := l.next(begin); !ok || d != 30*time.Second {
		t.Errorf("looks after %v", d)
	}
	if w := l.warnings(at(29)); len(w) != 0 {
		t.Errorf("too early: %q", w)
	}
	w := l.warnings(at(30))
	if len(w) != 1 || !strings.Contains(w[0], "80% of the budget of time for this session is used: 80 of 100") {
		t.Errorf("%q", w)
	}
	if w := l.warnings(at(31)); len(w) != 0 {
		t.Errorf("a second time: %q", w)
	}
	if d, ok := l.next(at(30)); !ok || d != 20*time.Second {
		t.Errorf("then after %v", d)
	}
	if l.over(at(49.9)) != nil {
		t.Error("over too early")
	}
	if got := l.over(at(50)); got == nil || *got != (convo.Limit{Which: "time", Scope: "session", Value: 100, Max: 100}) {
		t.Errorf("%+v", got)
	}
	if raised := l.begin(at(60)); len(raised) != 1 || !strings.Contains(raised[0], "is now 200") {
		t.Errorf("%q", raised)
	}
	if _, ok := newLedger(Budgets{}, 50, nil, Amounts{}, begin).next(begin); ok {
		t.Error("nobody counts time, and it is looked at all the same")
	}
}
