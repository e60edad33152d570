package external

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/sandbox"
	"ikigai/internal/tool"
)

func TestWhatAToolSaysOfItselfIsBelievedOnlyForTheWorse(t *testing.T) {
	for _, c := range []struct {
		claims   string
		origin   tool.Origin
		approved bool
		risk     tool.Risk
		effects  []tool.Effect
	}{
		{``, tool.User, false, tool.High, nil},
		{``, tool.User, true, tool.High, nil},
		{`"risk":"safe","effects":["read"],`, tool.User, false, tool.High, nil},
		{`"risk":"safe","effects":["write","read"],`, tool.Given, false, tool.High, nil},
		{`"risk":"safe","effects":["read","net"],`, tool.User, false, tool.High, []tool.Effect{tool.Net, tool.Read}},
		{`"risk":"safe","effects":["read"],`, tool.User, true, tool.Safe, []tool.Effect{tool.Read}},
		{`"risk":"safe","effects":["read"],`, tool.Project, true, tool.Medium, []tool.Effect{tool.Read}},
		{`"risk":"high","effects":["read"],`, tool.Project, true, tool.High, []tool.Effect{tool.Read}},
		{`"risk":"medium",`, tool.System, true, tool.Medium, nil},
	} {
		b := newBench(t, sandbox.Off)
		b.put("claims", sh("", `{"name":"claims",`+c.claims+`"description":"d","parameters":{}}`, ""))
		o := b.options()
		o.Approved = func(string, [32]byte) bool { return c.approved }
		found, ok := Scan(t.Context(), []Dir{{b.tools, c.origin}}, o).Lookup("claims")
		if !ok {
			t.Errorf("%s: not found", c.claims)
			continue
		}
		if s := found.Spec(); s.Risk != c.risk || !slices.Equal(s.Effects, c.effects) {
			t.Errorf("%s approved %v %v: risk %v, effects %v", c.claims, c.approved, c.origin, s.Risk, s.Effects)
		}
	}
}

func TestClaimsAreKeptApartFromWhatIsBelieved(t *testing.T) {
	b := newBench(t, sandbox.Off)
	b.put("meek", sh("", `{"name":"meek","description":"d","parameters":{},"risk":"low","effects":["read"]}`, ""))
	risk, effects := b.only(b.options()).Claimed()
	if risk != tool.Low || !slices.Equal(effects, []tool.Effect{tool.Read}) {
		t.Errorf("%v %v", risk, effects)
	}
}

func TestAChangedExecutableMustBeApprovedAgain(t *testing.T) {
	b := newBench(t, sandbox.Off)
	b.put("works", sh("works", "", `echo '{"v":1}'`))
	first := b.only(b.options()).Identity()
	o := b.options()
	o.Approved = func(path string, sum [32]byte) bool { return path == first.Path && sum == first.Sum() }
	works := b.only(o)
	if r := b.call(works, `{}`); string(r.Data) != `{"v":1}` {
		t.Fatalf("%s", r.Envelope())
	}
	b.put("works", sh("works", "", `echo '{"v":2}'`))
	if r := b.call(works, `{}`); r.Failure == nil || r.Failure.Code != tool.PermissionDenied {
		t.Errorf("what was approved is not what ran: %s", r.Envelope())
	}
	again := b.only(o)
	if again.Approved() || again.Spec().Risk != tool.High {
		t.Error("the approval outlived the executable it was for")
	}
	if r := b.call(again, `{}`); string(r.Data) != `{"v":2}` {
		t.Errorf("not approved, allowed by hand: %s", r.Envelope())
	}
}

func TestChangedSaysWhatIsDifferent(t *testing.T) {
	was := Identity{Path: "/t/x", Executable: [32]byte{1}, Schema: json.RawMessage(`{"name":"x","description":"reads","parameters":{"a":{"type":"string"},"b":{"type":"string"}},"effects":["read"]}`)}
	now := Identity{Path: "/t/x", Executable: [32]byte{2}, Schema: json.RawMessage(`{"name":"x","description":"sends","parameters":{"a":{"type":"integer"},"c":{"type":"string","required":true}},"effects":["net"],"env":["KEY"]}`)}
	if lines := Changed(was, was); lines != nil {
		t.Errorf("nothing changed: %q", lines)
	}
	text := strings.Join(Changed(was, now), "\n")
	for _, want := range []string{
		"the executable has other content", `description: "sends", was "reads"`, `effects: "[net]", was "[read]"`, `env: "KEY", was ""`,
		"parameter a: ", "parameter b removed", "parameter c added: required",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	now = was
	now.Schema = json.RawMessage(`{"version":2,` + string(was.Schema[1:]))
	if lines := Changed(was, now); len(lines) != 1 || was.Sum() == now.Sum() {
		t.Errorf("%q", lines)
	}
}

func TestAnIdentitySurvivesBeingStored(t *testing.T) {
	i := Identity{Path: "/t/x", Executable: [32]byte{1, 2}, Schema: json.RawMessage(`{"name":"<x>"}`)}
	raw, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	var back Identity
	if err := json.Unmarshal(raw, &back); err != nil || !reflect.DeepEqual(i, back) || i.Sum() != back.Sum() {
		t.Errorf("%s\n%+v\n%+v %v", raw, i, back, err)
	}
	if err := json.Unmarshal([]byte(`{"path":"x","executable":"12","schema":"{}"}`), &back); err == nil {
		t.Error("half a sum was taken")
	}
}
