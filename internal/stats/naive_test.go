package stats

import (
	"encoding/json"
	"fmt"
	"maps"
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
// number is one filter over all rows. The keys are those of leaves, and there is
// one for every number of a report: one that is not counted here is a difference.
func naive(t *rapid.T, sessions [][]convo.Event) map[string]float64 {
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
	n := &counter{rows: rows, out: map[string]float64{}}
	n.general()
	n.tools()
	n.money()
	n.clocks()
	maps.DeleteFunc(n.out, func(_ string, v float64) bool { return v == 0 })
	return n.out
}

type counter struct {
	rows []map[string]any
	out  map[string]float64
}

// add adds to numbers.
func (n *counter) add(by float64, keys ...string) {
	for _, k := range keys {
		n.out[k] += by
	}
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

var tokenFields = []string{"input", "output", "cache_read", "cache_write", "reasoning"}

func (n *counter) general() {
	sessions, turns, depth := map[any]bool{}, map[string]bool{}, map[string]int{}
	for i, row := range n.rows {
		sessions[row["session"]] = true
		if n.kind(i) == "user" {
			turns[n.turnOf(i)] = true
		}
		if n.kind(i) == "tool_call" && !n.callSinceResult(i) {
			depth[n.turnOf(i)]++
		}
	}
	side := func(turn string) string {
		if depth[turn] > 0 {
			return "with_tools"
		}
		return "without_tools"
	}
	n.add(float64(len(sessions)), "sessions")
	n.add(float64(len(turns)), "turns")
	n.add(float64(len(n.rows)), "events")
	for turn := range turns {
		n.add(1, fmt.Sprint("depth.", depth[turn]), side(turn)+".turns")
	}
	for i := range n.rows {
		for _, field := range tokenFields {
			if n.kind(i) == "usage" {
				n.add(n.num(i, field), side(n.turnOf(i))+".tokens."+field)
			}
		}
	}
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
		add := func(what string, by float64) { n.add(by, "tools."+name+"."+what, "calls."+what) }
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
			add("failures."+n.data(j)["error_type"].(string), 1)
		}
		if j < 0 {
			continue
		}
		output := n.data(j)["output"].(string)
		var answer any
		_ = json.Unmarshal([]byte(output), &answer)
		fields, isObject := answer.(map[string]any)
		if code, ok := fields["exit_code"].(float64); ok {
			add(fmt.Sprint("exit_codes.", code), 1)
			if code != 0 {
				add("exit_not_zero", 1)
			}
		}
		failure := n.data(j)["failure"] != nil
		add("bytes", float64(len(answerOfTool(output, failure, isObject))))
		if us := n.num(j, "took_us"); !denied && (us > 0 || !failure) {
			add("ran", 1)
			n.add(us/1000, "clocks.tools_ms")
			for _, whose := range []string{"tools." + name, "calls"} {
				took[whose] = append(took[whose], us)
			}
		}
	}
	for whose, all := range took {
		sort.Float64s(all)
		n.add(all[int(math.Ceil(float64(len(all))*0.50))-1]/1000, whose+".p50_ms")
		n.add(all[int(math.Ceil(float64(len(all))*0.95))-1]/1000, whose+".p95_ms")
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
	read, of := 0.0, 0.0
	for i := range n.rows {
		day := "days." + n.at(i).Format("2006-01-02")
		if n.kind(i) == "tool_call" {
			n.add(1, day+".calls")
		}
		if n.kind(i) != "usage" {
			continue
		}
		d := n.data(i)
		model, _ := d["model"].(string)
		add := func(what string, by float64) {
			n.add(by, "total."+what, "models."+model+"."+what, day+".spent."+what, day+".models."+model+"."+what)
		}
		add("replies", 1)
		if dollars, known := d["cost_usd"].(float64); known {
			add("cost_usd", dollars)
		} else {
			add("unpriced", 1)
		}
		for _, field := range tokenFields {
			add("tokens."+field, n.num(i, field))
			n.add(n.num(i, field), "tokens."+field)
		}
		if d["cache_read"] != nil && d["input"] != nil {
			read, of = read+n.num(i, "cache_read"), of+n.num(i, "input")
		}
	}
	if of > 0 {
		n.add(read/of, "cache_share")
	}
}

func (n *counter) clocks() {
	for i := range n.rows {
		if n.kind(i) == "usage" {
			n.add(n.num(i, "model_ms"), "clocks.model_ms")
		}
		if n.kind(i) == "end" {
			n.add(n.num(i, "duration_ms"), "clocks.turns_ms")
		}
		n.add(float64(n.waited(i).Microseconds())/1000, "clocks.waiting_ms")
		if n.kind(i) == "decision" {
			n.add(1, "decisions."+sortOf(n.data(i)))
		}
	}
}

// sortOf is who decided, and how far it reaches.
func sortOf(d map[string]any) string {
	switch allowed := d["allowed"] == true; {
	case d["by"] != "person" && allowed:
		return "allowed"
	case d["by"] != "person":
		return "denied"
	case !allowed:
		return "refused"
	case d["scope"] == "session" || d["scope"] == "always":
		return d["scope"].(string)
	}
	return "once"
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

// leaves are all numbers of a report as it is printed for programs, by their
// place; rows are named by tool, model or day. What is zero is left out.
func leaves(t *rapid.T, r Report) map[string]float64 {
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	collect(out, "", v)
	return out
}

func collect(out map[string]float64, at string, v any) {
	switch v := v.(type) {
	case float64:
		if v != 0 {
			out[strings.TrimPrefix(at, ".")] = v
		}
	case map[string]any:
		for k, field := range v {
			collect(out, at+"."+k, field)
		}
	case []any:
		for _, row := range v {
			fields := row.(map[string]any)
			name := ""
			for _, k := range []string{"name", "model", "day"} {
				if s, ok := fields[k].(string); ok {
					name = s
				}
			}
			collect(out, at+"."+name, row)
		}
	}
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
