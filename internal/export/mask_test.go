package export

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"ikigai/internal/convo"
)

func TestWhatLooksPrivateIsMasked(t *testing.T) {
	m := NewMask(func(s string) string { return strings.ReplaceAll(s, "known-value", "[secret X]") }, "marta", "/home/marta", "/data/homes/marta/")
	for in, want := range map[string]string{
		"a known-value here":                                "a [secret X] here",
		"/home/marta/src/x.go":                              "~/src/x.go",
		"cd /home/marta":                                    "cd ~",
		"/data/homes/marta/x":                               "~/x",
		"/home/martagon/x":                                  "/home/[user]/x",
		"/home/jo/.ssh and /Users/jo/x":                     "/home/[user]/.ssh and /Users/[user]/x",
		`C:\Users\jo\x`:                                     `C:\Users\[user]\x`,
		"owner marta, Marta's, smarta":                      "owner [user], [user]'s, smarta",
		"mail me.too+x@mail.example.org!":                   "mail [mail]!",
		"key sk-ant-api03-AAAAbbbb1234567890 end":           "key [key] end",
		"ghp_0123456789abcdefABCDEF0123456789abcd":          "[key]",
		"AKIAIOSFODNN7EXAMPLE":                              "[key]",
		"AIzaSyA1234567890abcdefghijklmnopqrstuv":           "[key]",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl": "[key]",
		"Authorization: Bearer abcdefghijklmnop":            "Authorization: Bearer [key]",
		"postgres://me:hunter2@db/x":                        "postgres://[login]@db/x",
		"password=hunter22 next":                            "password=[key] next",
		`API_KEY: "abcdefgh"`:                               `API_KEY: "[key]"`,
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nafter": "[key]\nafter",
		"-----BEGIN PRIVATE KEY-----\ncut off":                                        "[key]",
		"q7Zk2PxW9vLr4TbNs8YdHc3Jm6Fg":                                                "[key]",
	} {
		if got := m.Text(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestOrdinaryTextStaysAsItIs(t *testing.T) {
	m := NewMask(nil, "root", "/")
	for _, s := range []string{
		"the root of the tree", "func TestEventsSurviveTheirJSONWithTwoTurns2(t *testing.T) {", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
		"0198f1a2-7c3d-7e4f-8a5b-6c7d8e9f0a1b", "internal/toolkit/shown_linux_test.go", "https://example.org/a/b?c=d#e", "git@v1.2 a@b", "x := a*b + c[d:e]",
		"tokens: 48k, token count 12", "password:", "the secret is patience", "AGENTS_md_in_every_FOLDER_of_3_projects", "/usr/lib/x86_64-linux-gnu/libc.so.6",
	} {
		if got := m.Text(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestMaskedEventsAreWholeAndStillJSON(t *testing.T) {
	m := NewMask(nil, "marta", "/home/marta")
	text := "line\nmarta@mail.example.org \"q\" /home/marta/x password=hunter22 \\"
	var b bytes.Buffer
	if err := JSONL(&b, m.Events(sample(text))); err != nil {
		t.Fatal(err)
	}
	for _, private := range []string{"marta", "hunter22", "mail.example"} {
		if strings.Contains(b.String(), private) {
			t.Errorf("%s is still there", private)
		}
	}
	n := 0
	for line := range strings.Lines(b.String()) {
		var e convo.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if r, ok := e.Body.(convo.ToolResult); ok && r.Failure == nil && !json.Valid(r.Data) {
			t.Errorf("the result is no JSON any more: %s", r.Data)
		}
		n++
	}
	if n != 17 {
		t.Errorf("%d events", n)
	}
	for _, s := range []string{page1(t, m.Session(Session{Dir: "/home/marta/p"}), m.Events(sample(text))), markdown(t, m.Session(Session{Title: "for marta"}), m.Events(sample(text)))} {
		if strings.Contains(s, "marta") || strings.Contains(s, "hunter22") {
			t.Error("a page still holds what was masked")
		}
	}
}

func TestBlobsOfVendorsAreRemoved(t *testing.T) {
	blob := convo.Opaque{Dialect: "d", Data: json.RawMessage(`{"encrypted":"c2VjcmV0"}`)}
	e := convo.Of("", blob)
	e.Keep = &blob
	raw, err := json.Marshal(NewMask(nil, "").Event(e))
	if err != nil || strings.Contains(string(raw), "c2VjcmV0") {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestAFieldNamedSecretIsMaskedWhole(t *testing.T) {
	m := NewMask(nil, "")
	for in, want := range map[string]string{
		`{"password": "two words","n":[1, "a"]}`: `{"password": "[key]","n":[1, "a"]}`,
		`{"db_token":"x y z a b"}`:               `{"db_token":"[key]"}`,
		`{"path":"tokens.txt","token_count":1}`:  `{"path":"tokens.txt","token_count":1}`,
		`not json a@b.example`:                   `not json [mail]`,
		`"\u0061@b.example"`:                     `"[mail]"`,
	} {
		if got := string(m.json(json.RawMessage(in))); got != want {
			t.Errorf("%s became %s", in, got)
		}
	}
}

func FuzzMaskingKeepsJSONValid(f *testing.F) {
	f.Add(`{"a":"b@c.example","password":"\"\\"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		got := NewMask(nil, "marta", "/home/marta").json(json.RawMessage(raw))
		if json.Valid([]byte(raw)) && !json.Valid(got) {
			t.Errorf("%q became %q", raw, got)
		}
	})
}
