package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"pgregory.net/rapid"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

// history is a session as chance writes it: turns, rounds, calls that are
// allowed, denied, answered or not, results of calls that never were.
func history(t *rapid.T) []convo.Event {
	h := &chance{T: t, story: story{at: noon.Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "days")) * 13 * time.Hour)}}
	h.add(convo.Event{Kind: convo.KindSystem, Text: "be good"})
	for range h.upTo(4, "turns") {
		h.prompt("do it")
		for range h.upTo(3, "rounds") {
			h.round()
		}
		if h.yes("ends") {
			h.add(convo.Of("done", convo.End{Stop: convo.StopDone, TookMS: int64(h.upTo(5000, "took"))}))
		}
	}
	return h.events
}

type chance struct {
	*rapid.T
	story
	calls int
}

func (h *chance) upTo(n int, label string) int { return rapid.IntRange(0, n).Draw(h.T, label) }
func (h *chance) yes(label string) bool        { return rapid.Bool().Draw(h.T, label) }
func (h *chance) one(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(h.T, label)
}

func (h *chance) round() {
	h.add(convo.Event{Kind: convo.KindAssistant, Text: "I look."})
	var ids []string
	for range h.upTo(3, "calls") {
		h.calls++
		id := fmt.Sprintf("c%d", h.calls)
		if h.upTo(20, "again") == 0 {
			id = "c1" // no provider should, but one might
		}
		h.call(id, h.one("tool", "bash", "grep", "a<b>"))
		ids = append(ids, id)
	}
	h.add(convo.Of("", h.usage()))
	for _, id := range ids {
		if h.yes("decided") {
			h.at = h.at.Add(time.Duration(h.upTo(90, "pause")-5) * time.Second) // clocks go back, too
			h.decided(id, convo.By(h.one("by", "rule", "mode", "person")), h.yes("allowed"), h.one("scope", "", "once", "session", "always"))
		}
	}
	if h.yes("stray") {
		ids = append(ids, "nobody")
	}
	for _, id := range ids {
		if h.upTo(5, "lost") > 0 {
			h.add(convo.Of("", convo.ToolResult{Result: h.result(id)}))
		}
	}
	h.add(convo.Event{Kind: "future", Body: convo.Unknown{Of: "future", Data: json.RawMessage(`{}`)}})
	h.add(convo.Of("", convo.Running{CallID: "c1"}))
}

func (h *chance) maybe(n int, label string) *int {
	if h.yes(label + " known") {
		return ptr(h.upTo(n, label))
	}
	return nil
}

func (h *chance) usage() convo.Usage {
	u := convo.Usage{
		Model: h.one("model", "a/x", "b/y", ""), Input: h.maybe(9000, "input"), Output: h.maybe(900, "output"),
		CacheRead: h.maybe(5000, "cache"), CacheWrite: h.maybe(50, "write"), Reasoning: h.maybe(50, "reasoning"), ModelMS: int64(h.upTo(9000, "ms")),
	}
	if n := h.maybe(64, "cost"); n != nil {
		u.CostUSD = ptr(float64(*n) / 64) // sums of these are exact in any order
	}
	return u
}

func (h *chance) result(id string) tool.Result {
	took := time.Duration(h.upTo(5000, "took")) * time.Microsecond
	if h.yes("data") {
		data := h.one("answer", `{"output":"é\n"}`, `{"exit_code":0}`, `{"exit_code":2,"output":""}`, `{"error":"x"}`, `{"error":"x","error_code":"FILE_NOT_FOUND"}`, `{"error":"x","error_code":"READ_FAILED","exit_code":-1}`, `[1]`, `""`)
		return tool.Result{CallID: id, Data: json.RawMessage(data), Took: took}
	}
	code := h.one("code", "PERMISSION_DENIED", "TOOL_TIMEOUT", "INVALID_PARAMS", "TOOL_NOT_FOUND")
	r := tool.Fail(tool.Call{ID: id}, tool.Code(code), "no")
	r.Failure.ExitCode = h.maybe(3, "exit")
	if h.yes("ran") {
		r.Took = took
	}
	return r
}

// naive counts from the exported lines alone, knowing nothing of our types: each
// number is one filter over all rows. The keys are those of flatten.
func naive(t *rapid.T, sessions [][]convo.Event) map[string]string {
	var rows []map[string]any
	for i, events := range sessions {
		for _, e := range events {
			if !e.Durable() {
				continue // not stored, so not exported
			}
			raw, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			var row map[string]any
			if err := json.Unmarshal(raw, &row); err != nil {
				t.Fatal(err)
			}
			row["session"] = float64(i)
			rows = append(rows, row)
		}
	}
	n := &counter{rows: rows, out: map[string]string{}}
	n.general()
	n.tools()
	n.money()
	n.clocks()
	return n.out
}

type counter struct {
	rows []map[string]any
	out  map[string]string
}

func (n *counter) put(key string, v any) {
	if s := fmt.Sprint(v); s != "0" && s != "0s" {
		n.out[key] = s
	}
}

func (n *counter) count(key string, keep func(i int) bool) {
	c := 0
	for i := range n.rows {
		if keep(i) {
			c++
		}
	}
	n.put(key, c)
}

func (n *counter) kind(i int) string { return n.rows[i]["kind"].(string) }

func (n *counter) data(i int) map[string]any {
	d, _ := n.rows[i]["data_json"].(map[string]any)
	return d
}

func (n *counter) num(i int, field string) float64 {
	f, _ := n.data(i)[field].(float64)
	return f
}

func (n *counter) at(i int) time.Time {
	at, err := time.Parse(time.RFC3339Nano, n.rows[i]["at"].(string))
	if err != nil {
		panic(err)
	}
	return at
}

// turnOf names the turn of a row across sessions.
func (n *counter) turnOf(i int) string {
	return fmt.Sprint(n.rows[i]["session"], "/", n.rows[i]["turn"])
}

func (n *counter) general() {
	sessions, turns, depth, tokens := map[any]bool{}, map[string]bool{}, map[string]int{}, map[string]float64{}
	for i, row := range n.rows {
		sessions[row["session"]] = true
		if n.kind(i) == "user" {
			turns[n.turnOf(i)] = true
		}
		if n.kind(i) == "tool_call" && !n.callSinceResult(i) {
			depth[n.turnOf(i)]++
		}
		if n.kind(i) == "usage" {
			tokens[n.turnOf(i)] += n.num(i, "input")
		}
	}
	n.put("sessions", len(sessions))
	n.put("turns", len(turns))
	n.put("events", len(n.rows))
	with, without, spread := 0.0, 0.0, map[int]int{}
	for turn := range turns {
		spread[depth[turn]]++
	}
	for turn, used := range tokens {
		if depth[turn] > 0 {
			with += used
		} else {
			without += used
		}
	}
	for d, c := range spread {
		n.put(fmt.Sprint("depth ", d), c)
	}
	n.put("with tools", with)
	n.put("without tools", without)
}

// callSinceResult: looking back in the same turn, a call comes before a result.
func (n *counter) callSinceResult(i int) bool {
	for j := i - 1; j >= 0 && n.turnOf(j) == n.turnOf(i); j-- {
		switch n.kind(j) {
		case "tool_call":
			return true
		case "tool_result":
			return false
		}
	}
	return false
}

// answerOf is the row of the result of the call in row i, -1 when it has none:
// the first of its id before the id is used again.
func (n *counter) answerOf(i int) int {
	for j := i + 1; j < len(n.rows) && n.rows[j]["session"] == n.rows[i]["session"]; j++ {
		switch {
		case n.kind(j) == "tool_call" && n.data(j)["id"] == n.data(i)["id"]:
			return -1
		case n.kind(j) == "tool_result" && n.data(j)["tool_call_id"] == n.data(i)["id"]:
			return j
		}
	}
	return -1
}

// verdict is the last decision about the call in row i before its result.
func (n *counter) verdict(i int) string {
	said := ""
	for j := i + 1; j < len(n.rows) && n.rows[j]["session"] == n.rows[i]["session"]; j++ {
		switch {
		case n.kind(j) == "tool_call" && n.data(j)["id"] == n.data(i)["id"], n.kind(j) == "tool_result" && n.data(j)["tool_call_id"] == n.data(i)["id"]:
			return said
		case n.kind(j) == "decision" && n.data(j)["call_id"] == n.data(i)["id"]:
			said = fmt.Sprint(n.data(j)["allowed"])
		}
	}
	return said
}

func (n *counter) tools() {
	took := map[string][]float64{}
	for i := range n.rows {
		if n.kind(i) != "tool_call" {
			continue
		}
		name := n.data(i)["function"].(map[string]any)["name"].(string)
		add := func(what string, by float64) {
			old := 0.0
			fmt.Sscan(n.out[name+" "+what], &old)
			n.put(name+" "+what, old+by)
		}
		add("calls", 1)
		j, denied := n.answerOf(i), n.verdict(i) == "false"
		switch {
		case denied:
			add("denied", 1)
		case j < 0:
			add("open", 1)
		case n.data(j)["success"] == true:
			add("ok", 1)
		default:
			add("failed", 1)
			add("failed "+n.data(j)["error_type"].(string), 1)
		}
		if j < 0 {
			continue
		}
		output := n.data(j)["output"].(string)
		var answer any
		_ = json.Unmarshal([]byte(output), &answer)
		fields, isObject := answer.(map[string]any)
		if code, ok := fields["exit_code"].(float64); ok {
			add(fmt.Sprint("exit ", code), 1)
		}
		failure := n.data(j)["failure"] != nil
		add("bytes", float64(len(answerOfTool(output, failure, isObject))))
		if us := n.num(j, "took_us"); !denied && (us > 0 || !failure) {
			took[name] = append(took[name], us)
			took["clock"] = append(took["clock"], us)
		}
	}
	var clock float64
	for _, us := range took["clock"] {
		clock += us
	}
	n.put("clock tools", time.Duration(clock)*time.Microsecond)
	delete(took, "clock")
	for name, all := range took {
		sort.Float64s(all)
		n.put(name+" p50", time.Duration(all[int(math.Ceil(float64(len(all))*0.50))-1])*time.Microsecond)
		n.put(name+" p95", time.Duration(all[int(math.Ceil(float64(len(all))*0.95))-1])*time.Microsecond)
	}
}

// answerOfTool is what the model reads of a stored output.
func answerOfTool(output string, failure, isObject bool) string {
	if failure {
		return output
	}
	if !isObject {
		output = `{"output":` + output + `}`
	}
	return `{"tool_success":true,"result":` + output + `}`
}

func (n *counter) money() {
	cost, days, read, of := map[string]float64{}, map[string]float64{}, 0.0, 0.0
	for i := range n.rows {
		day := n.at(i).Format("2006-01-02")
		if n.kind(i) == "tool_call" {
			days[day+" calls"]++
		}
		if n.kind(i) != "usage" {
			continue
		}
		d := n.data(i)
		model, _ := d["model"].(string)
		dollars, known := d["cost_usd"].(float64)
		if !known {
			cost["unpriced "+model]++
		}
		cost["cost "+model] += dollars
		cost["replies "+model]++
		days[day+" cost "+model] += dollars
		for _, field := range []string{"input", "output", "cache_read", "cache_write", "reasoning"} {
			cost["tokens "+field] += n.num(i, field)
		}
		if d["cache_read"] != nil && d["input"] != nil {
			read, of = read+n.num(i, "cache_read"), of+n.num(i, "input")
		}
	}
	for _, m := range []map[string]float64{cost, days} {
		for k, v := range m {
			n.put(k, v)
		}
	}
	if of > 0 {
		n.put("cache share", read/of)
	}
}

func (n *counter) clocks() {
	model, turns, waiting := 0.0, 0.0, time.Duration(0)
	for i := range n.rows {
		if n.kind(i) == "usage" {
			model += n.num(i, "model_ms")
		}
		if n.kind(i) == "end" {
			turns += n.num(i, "duration_ms")
		}
		waiting += n.waited(i)
	}
	n.put("clock model", time.Duration(model)*time.Millisecond)
	n.put("clock turns", time.Duration(turns)*time.Millisecond)
	n.put("clock waiting", waiting)
	said := map[string]func(d map[string]any) bool{
		"refused": func(d map[string]any) bool { return d["by"] == "person" && d["allowed"] == false },
		"session": func(d map[string]any) bool {
			return d["by"] == "person" && d["allowed"] == true && d["scope"] == "session"
		},
		"always": func(d map[string]any) bool {
			return d["by"] == "person" && d["allowed"] == true && d["scope"] == "always"
		},
		"once": func(d map[string]any) bool {
			return d["by"] == "person" && d["allowed"] == true && d["scope"] != "session" && d["scope"] != "always"
		},
		"allowed": func(d map[string]any) bool { return d["by"] != "person" && d["allowed"] == true },
		"denied":  func(d map[string]any) bool { return d["by"] != "person" && d["allowed"] == false },
	}
	for name, is := range said {
		n.count("decisions "+name, func(i int) bool { return n.kind(i) == "decision" && is(n.data(i)) })
	}
}

// waited is how long a person was waited for with the decision in row i: since
// its call, or the last answer of a person about an open call, the later one.
func (n *counter) waited(i int) time.Duration {
	call := n.openCallOf(i)
	if call < 0 || n.data(i)["by"] != "person" {
		return 0
	}
	since := n.at(call)
	for j := i - 1; j >= 0 && n.rows[j]["session"] == n.rows[i]["session"]; j-- {
		if n.kind(j) == "decision" && n.data(j)["by"] == "person" && n.openCallOf(j) >= 0 {
			if n.at(j).After(since) {
				since = n.at(j)
			}
			break
		}
	}
	if d := n.at(i).Sub(since); d > 0 {
		return d
	}
	return 0
}

// openCallOf is the row of the call that the decision in row i is about, -1 when
// none is open.
func (n *counter) openCallOf(i int) int {
	if n.kind(i) != "decision" {
		return -1
	}
	for j := i - 1; j >= 0 && n.rows[j]["session"] == n.rows[i]["session"]; j-- {
		switch {
		case n.kind(j) == "tool_result" && n.data(j)["tool_call_id"] == n.data(i)["call_id"]:
			return -1
		case n.kind(j) == "tool_call" && n.data(j)["id"] == n.data(i)["call_id"]:
			return j
		}
	}
	return -1
}

// flatten writes a report as keys and values, without what is zero.
func flatten(r Report) map[string]string {
	n := &counter{out: map[string]string{}}
	n.put("sessions", r.Sessions)
	n.put("turns", r.Turns)
	n.put("events", r.Events)
	for d, c := range r.Depth {
		n.put(fmt.Sprint("depth ", d), c)
	}
	n.put("with tools", r.WithTools.Tokens.Input)
	n.put("without tools", r.WithoutTools.Tokens.Input)
	for _, t := range r.Tools {
		for what, v := range map[string]any{
			"calls": t.Calls, "ok": t.OK, "failed": t.Failed, "denied": t.Denied, "open": t.Open, "bytes": t.Bytes, "p50": t.P50, "p95": t.P95,
		} {
			n.put(t.Name+" "+what, v)
		}
		for k, c := range t.Failures {
			n.put(t.Name+" failed "+string(k), c)
		}
		for code, c := range t.ExitCodes {
			n.put(fmt.Sprint(t.Name, " exit ", code), c)
		}
	}
	for field, v := range map[string]int{
		"input": r.Tokens.Input, "output": r.Tokens.Output, "cache_read": r.Tokens.CacheRead, "cache_write": r.Tokens.CacheWrite, "reasoning": r.Tokens.Reasoning,
	} {
		n.put("tokens "+field, v)
	}
	for _, m := range r.Models {
		n.put("cost "+m.Model, m.cost())
		n.put("replies "+m.Model, m.Replies)
		n.put("unpriced "+m.Model, m.Unpriced)
	}
	for _, d := range r.Days {
		n.put(d.Day+" calls", d.Calls)
		for _, m := range d.Models {
			n.put(d.Day+" cost "+m.Model, m.cost())
		}
	}
	if r.CacheShare != nil {
		n.put("cache share", *r.CacheShare)
	}
	for what, d := range map[string]time.Duration{"model": r.Clocks.Model, "tools": r.Clocks.Tools, "waiting": r.Clocks.Waiting, "turns": r.Clocks.Turns} {
		n.put("clock "+what, d)
	}
	for what, c := range map[string]int{
		"once": r.Decisions.Once, "session": r.Decisions.Session, "always": r.Decisions.Always,
		"refused": r.Decisions.Refused, "allowed": r.Decisions.Allowed, "denied": r.Decisions.Denied,
	} {
		n.put("decisions "+what, c)
	}
	return n.out
}

// The totals of a report are the sums of its rows.
func sumsHold(r Report) error {
	var wrong []string
	expect := func(what string, got, want any) {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			wrong = append(wrong, fmt.Sprintf("%s is %v, its rows make %v", what, got, want))
		}
	}
	calls, ran, replies, daily, dayCalls, cost := 0, 0, 0, 0, 0, 0.0
	for _, t := range r.Tools {
		calls, ran = calls+t.Calls, ran+t.Ran
		expect(t.Name, t.Calls, t.OK+t.Failed+t.Denied+t.Open)
	}
	for _, m := range r.Models {
		replies, cost = replies+m.Replies, cost+m.cost()
	}
	for _, d := range r.Days {
		daily, dayCalls = daily+d.Spent.Replies, dayCalls+d.Calls
	}
	expect("calls", r.Calls.Calls, calls)
	expect("calls that ran", r.Calls.Ran, ran)
	expect("replies", r.Total.Replies, replies)
	expect("replies by day", r.Total.Replies, daily)
	expect("calls by day", r.Calls.Calls, dayCalls)
	expect("cost", r.Total.cost(), cost)
	expect("turns", r.Turns, r.WithTools.Turns+r.WithoutTools.Turns)
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	return fmt.Errorf("%s", strings.Join(wrong, "; "))
}
