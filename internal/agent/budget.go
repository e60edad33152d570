package agent

import (
	"context"
	"fmt"
	"time"

	"ikigai/internal/convo"
)

// A Measure is something that is used up.
type Measure uint8

const (
	Turns  Measure = iota // model replies
	Calls                 // tool calls
	Tokens                // of requests and replies
	Cost                  // dollars
	Time                  // seconds from prompts to answers
)

var measureNames = [...]string{"turns", "calls", "tokens", "cost", "time"}

// Amounts are so much of each Measure; as a budget zero means no bound.
type Amounts [Time + 1]float64

// Budgets bound a prompt, the session, and all sessions of a day.
type Budgets struct{ Prompt, Session, Day Amounts }

// A Count adds up what events used. Its zero value is ready.
type Count struct {
	Amounts
	reply string
}

// Add takes an event of a session into account, in their order.
func (c *Count) Add(e convo.Event) {
	if e.Reply != "" && e.Reply != c.reply {
		c.reply = e.Reply
		c.Amounts[Turns]++
	}
	switch b := e.Body.(type) {
	case convo.ToolCall:
		c.Amounts[Calls]++
	case convo.Usage:
		for _, n := range []*int{b.Input, b.Output} {
			if n != nil {
				c.Amounts[Tokens] += float64(*n)
			}
		}
		if b.CostUSD != nil {
			c.Amounts[Cost] += *b.CostUSD
		}
	case convo.End:
		c.Amounts[Time] += float64(b.TookMS) / 1000
	}
}

// A ledger knows what was used of each budget.
type ledger struct {
	accounts [3]account
	day      string // the last one is of this day
	count    Count
	began    time.Time // of the turn under way; zero between turns
	unpriced bool      // the person was told that a cost is not known
}

// An account is one budget.
type account struct {
	name    string // of its limit events; empty for a prompt
	max     Amounts
	step    Amounts // by which max is raised
	used    Amounts
	warned  [len(measureNames)]bool
	stopped [len(measureNames)]bool
}

// prompt, session and day are the places of the accounts.
const (
	ofPrompt = iota
	ofSession
	ofDay
)

func newLedger(b Budgets, rounds int, stored []convo.Event, today Amounts, now time.Time) *ledger {
	l := &ledger{day: dayOf(now)}
	for i, a := range []account{{max: b.Prompt}, {name: "session", max: b.Session}, {name: "day", max: b.Day, used: today}} {
		a.step = a.max
		l.accounts[i] = a
	}
	l.accounts[ofPrompt].max[Turns] = float64(rounds) // the machine ends the turn; the person is warned
	for _, e := range stored {
		l.count.Add(e)
	}
	l.accounts[ofSession].used = l.count.Amounts
	return l
}

func dayOf(t time.Time) string { return t.Local().Format(time.DateOnly) }

// begin starts a prompt. A budget that ended the last one is raised by as much
// again: that the person goes on is the answer to the question.
func (l *ledger) begin(now time.Time) (raised []string) {
	l.began = now
	l.accounts[ofPrompt].used, l.accounts[ofPrompt].warned = Amounts{}, [len(measureNames)]bool{}
	for i := ofSession; i <= ofDay; i++ {
		a := &l.accounts[i]
		for m := range a.stopped {
			if a.stopped[m] {
				a.max[m] = max(a.max[m], a.used[m]) + a.step[m]
				a.stopped[m], a.warned[m] = false, false
				raised = append(raised, fmt.Sprintf("the budget of %s is now %g", a.title(Measure(m)), a.max[m]))
			}
		}
	}
	return raised
}

// add counts an event into every budget.
func (l *ledger) add(e convo.Event) {
	before := l.count.Amounts
	l.count.Add(e)
	if today := dayOf(e.At); today != l.day && !e.At.IsZero() {
		l.day = today
		l.accounts[ofDay].used, l.accounts[ofDay].warned = Amounts{}, [len(measureNames)]bool{}
	}
	for i := range l.accounts {
		for m := range before {
			l.accounts[i].used[m] += l.count.Amounts[m] - before[m]
		}
	}
	if e.Kind == convo.KindEnd {
		l.began = time.Time{} // its time is counted now
	}
}

// now is how much of a measure is used, the turn under way included.
func (l *ledger) now(a *account, m Measure, at time.Time) float64 {
	if m == Time && !l.began.IsZero() {
		return a.used[m] + at.Sub(l.began).Seconds()
	}
	return a.used[m]
}

// over is the first budget that is used up.
func (l *ledger) over(at time.Time) *convo.Limit {
	for i := range l.accounts {
		a := &l.accounts[i]
		for m := range a.max {
			used := l.now(a, Measure(m), at)
			if a.max[m] > 0 && used >= a.max[m] && !(i == ofPrompt && Measure(m) == Turns) {
				a.stopped[m] = true
				return &convo.Limit{Which: measureNames[m], Scope: a.name, Value: used, Max: a.max[m]}
			}
		}
	}
	return nil
}

// enough is the part of a budget after which the person is warned.
const enough = 0.8

// warnings tells once of each budget that is nearly used up.
func (l *ledger) warnings(at time.Time) (texts []string) {
	for i := range l.accounts {
		a := &l.accounts[i]
		for m := range a.max {
			used := l.now(a, Measure(m), at)
			if a.max[m] <= 0 || a.warned[m] || used < enough*a.max[m] || used >= a.max[m] {
				continue
			}
			a.warned[m] = true
			texts = append(texts, fmt.Sprintf("%.0f%% of the budget of %s is used: %.4g of %g", 100*used/a.max[m], a.title(Measure(m)), used, a.max[m]))
		}
	}
	return texts
}

func (a *account) title(m Measure) string {
	switch a.name {
	case "":
		return measureNames[m] + " for this prompt"
	case "day":
		return measureNames[m] + " for today"
	}
	return measureNames[m] + " for this session"
}

// tight reports whether money or tokens are nearly used up, so that they are left
// for the work itself.
func (l *ledger) tight() bool {
	for i := range l.accounts {
		a := &l.accounts[i]
		for _, m := range []Measure{Tokens, Cost} {
			if a.max[m] > 0 && a.used[m] >= enough*a.max[m] {
				return true
			}
		}
	}
	return false
}

// next is how long it takes until time is nearly or wholly used up; false when
// nobody counts it.
func (l *ledger) next(at time.Time) (time.Duration, bool) {
	soonest, found := 0.0, false
	for i := range l.accounts {
		a := &l.accounts[i]
		if a.max[Time] <= 0 {
			continue
		}
		left := a.max[Time] - l.now(a, Time, at)
		if early := left - (1-enough)*a.max[Time]; !a.warned[Time] && early > 0 {
			left = early
		}
		if left = max(left, 0); !found || left < soonest {
			soonest, found = left, true
		}
	}
	return time.Duration(soonest * float64(time.Second)), found
}

// watchTime looks again when time is nearly or wholly used up.
func (a *Agent) watchTime() {
	d, ok := a.ledger.next(a.parts.Now())
	if !ok {
		return
	}
	n := a.turn
	a.clock = time.AfterFunc(d, func() {
		a.send(n, func(ctx context.Context) {
			if !a.machine.State().Busy() {
				return
			}
			a.warn()
			if l := a.ledger.over(a.parts.Now()); l != nil {
				a.exhaust(ctx, *l)
				return
			}
			a.watchTime()
		})
	})
}

// warn tells of budgets that are nearly used up.
func (a *Agent) warn() {
	for _, text := range a.ledger.warnings(a.parts.Now()) {
		a.notice(text, "")
	}
}

// price tells once that a budget of money cannot hold, because nobody knows what
// the model costs.
func (a *Agent) price(u *convo.Usage) {
	l := a.ledger
	if u.CostUSD != nil || l.unpriced {
		return
	}
	for i := range l.accounts {
		if l.accounts[i].max[Cost] > 0 {
			l.unpriced = true
			a.notice("what "+a.model+" costs is not known: a budget of money cannot hold it", "set a budget of tokens or time")
			return
		}
	}
}
