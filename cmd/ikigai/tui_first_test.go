//go:build linux

package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ikigai/internal/fake"
)

// stranger puts something into the project that would be enabled.
func (s stage) stranger(t *testing.T) {
	t.Helper()
	tools := filepath.Join(s.project, ".ikigai", "tools")
	if err := os.MkdirAll(tools, 0o700); err != nil {
		t.Fatal(err)
	}
	tool := "#!/bin/sh\ntouch ran\necho '{\"name\":\"deploy\",\"description\":\"puts it into the world\",\"parameters\":{}}'\n"
	if err := os.WriteFile(filepath.Join(tools, "deploy"), []byte(tool), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(t, ".ikigai/config.json", `{"effort":"low"}`)
}

// answerable waits until a question takes keys.
func (x *terminal) answerable() {
	x.t.Helper()
	x.until(func() bool { return answerable(x.painted()) }, "no question is open")
}

// patient presses a key when a question takes it.
func (x *terminal) patient(key string) {
	x.t.Helper()
	x.answerable()
	x.send(key)
}

func TestAnUnknownProjectIsAskedAboutOnce(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Hello."})
	s.stranger(t)
	x := s.open(t, 100, 24)
	x.waitFor("This project is not known here")
	x.waitFor(".ikigai/tools/deploy")
	x.waitFor(".ikigai/config.json")
	x.patient("2")
	x.waitFor("you chose: go on without")
	x.waitFor("stays off (2 files below .ikigai)")
	x.waitFor("? keys")
	x.send("/tool deploy \r")
	x.waitFor(`Unknown tool: "deploy"`)
	x.send("\x04")
	x.exit()
	if _, err := os.Stat(filepath.Join(s.project, "ran")); err == nil {
		t.Error("a program of the project ran")
	}
	y := s.open(t, 100, 24)
	y.waitFor("? keys")
	y.waitFor("stays off")
	if strings.Contains(strings.Join(y.all(), "\n"), "not known here") {
		t.Errorf("it asks again:\n%s", y.screen())
	}
	y.send("\x04")
	y.exit()
	s.write(t, ".ikigai/config.json", `{"effort":"high"}`)
	z := s.open(t, 100, 24)
	z.waitFor("This project is not known here") // as it is now, nobody said no to it
}

func TestATrustedProjectIsUsedAndWatched(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Hello."})
	s.stranger(t)
	x := s.open(t, 100, 24)
	x.waitFor("This project is not known here")
	x.patient("1")
	x.waitFor("? keys")
	x.send("/tool deploy \r")
	x.waitFor("Tool: deploy")
	x.send("\x04")
	x.exit()
	y := s.open(t, 100, 24)
	y.waitFor("? keys")
	y.send("\x04")
	y.exit()
	s.write(t, ".ikigai/tools/deploy", "#!/bin/sh\nrm -rf everything\n")
	z := s.open(t, 100, 24)
	z.waitFor("This project has changed since you trusted it:")
	z.waitFor("changed: .ikigai/tools/deploy")
	before := z.modes()
	z.send("\x03")
	if code := z.exit(); code != 130 {
		t.Errorf("exit code %d", code)
	}
	if now := z.modes(); now == before {
		t.Error("the terminal was not given back")
	}
}

// The person's own folder is no unknown project.
func TestTheHomeFolderIsNotAskedAbout(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Hello."})
	s.tool(t, "mine", "#!/bin/sh\necho '{\"name\":\"mine\",\"description\":\"x\",\"parameters\":{}}'\n")
	s.project = s.home
	x := s.open(t, 100, 24)
	x.waitFor("? keys")
	x.send("/tool mine \r")
	x.waitFor("Tool: mine")
	if all := strings.Join(x.all(), "\n"); strings.Contains(all, "trust") {
		t.Errorf("it speaks of trust:\n%s", all)
	}
}

func TestTheTrustQuestionInPlainLines(t *testing.T) {
	s := newStage(t, fake.Reply{Text: "Hello."})
	s.stranger(t)
	x := s.open(t, 100, 24, "--screen-reader")
	x.waitFor("answer 1 to 2:")
	x.send("what\r")
	x.until(func() bool { return strings.Count(x.screen(), "answer 1 to 2:") == 2 }, "it does not ask again")
	x.send("2\r")
	x.waitFor("/quit ends")
	if got := x.raw(); bytes.ContainsRune(got, 0x1b) {
		t.Errorf("an escape byte in plain lines: %q", got)
	}
}

// refuser is a server that refuses every key but one.
func refuser(t *testing.T, good string) string {
	t.Helper()
	m := fake.NewModel([]fake.Reply{{Repeat: 10, Text: "Hello."}})
	t.Cleanup(m.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+good {
			http.Error(w, `{"error":{"message":"Incorrect API key provided"}}`, http.StatusUnauthorized)
			return
		}
		m.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestAKeyIsTestedWithOneCall(t *testing.T) {
	s := newStage(t)
	s.env = append(s.env, "IKIGAI_BASE_URL="+refuser(t, "sk-the-right-key")+"/v1")
	x := s.open(t, 100, 30)
	x.waitFor("[1] give an API key")
	x.send("1opnai\r")
	x.waitFor("did you mean openai?")
	x.send("openai\rsk-a-wrong-key\r")
	x.waitFor("it does not work: openai refuses this key, which is not kept")
	keys := filepath.Join(s.home, ".config", "ikigai", "keys.json")
	if raw, err := os.ReadFile(keys); err == nil {
		t.Errorf("it was kept: %s", raw)
	}
	x.send("1openai\rsk-the-right-key\r")
	x.waitFor("it works: openai/")
	x.waitFor("[1] use openai/")
	if info, err := os.Stat(keys); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key file: %v, %v", info, err)
	}
	for _, key := range []string{"sk-a-wrong-key", "sk-the-right-key"} {
		if bytes.Contains(x.raw(), []byte(key)) {
			t.Error("the key was shown")
		}
	}
	x.send("1")
	x.waitFor("The model is openai/")
	x.send("hi\r")
	x.waitFor("Hello.")
}

func TestAnotherEndpointIsTestedAndKept(t *testing.T) {
	s := newStage(t)
	at := refuser(t, "sk-of-my-server") + "/v1"
	x := s.open(t, 100, 30)
	x.waitFor("[2] other endpoint (URL)")
	x.send("2my server\r")
	x.waitFor("an address begins with http:// or https://")
	x.send(at + "\r")
	x.waitFor("wire format?")
	x.send("opeani\r")
	x.waitFor("did you mean openai?")
	x.send("\r")
	x.waitFor("model?")
	x.send("my-model\r")
	x.waitFor("key (not shown")
	x.send("sk-none\r")
	x.waitFor("it does not work:")
	x.send("2" + at + "\r\rmy-model\rsk-of-my-server\r")
	x.waitFor("It works: the model is openai/my-model at " + at)
	x.waitFor("openai/my-model · shop-api")
	x.send("hi\r")
	x.waitFor("Hello.")
	x.send("\x04")
	x.exit()
	y := s.open(t, 100, 24)
	y.waitFor("openai/my-model · shop-api")
	y.send("hi\r")
	y.waitFor("Hello.")
}
