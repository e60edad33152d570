package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

const (
	apiKey   = "sk-test-0123456789abcdefXYZ"
	password = "p\"ss/w<rd\\ with & ünïcode"
	pem      = "-----BEGIN PRIVATE KEY-----\nMIIBVgIBADANBgkqhkiG9w0BAQEFAASCAUAwggE8\nAgEAAkEAq7BFUpkGp3+LQmlQYx2eqzDV+xeG8kx\n-----END PRIVATE KEY-----"
)

func redactor() *Redactor {
	return New([]string{"DB_PASSWORD=" + password, "SSH_KEY=" + pem, "PATH=/usr/local/bin:/usr/bin", "EDITOR=something-long-enough"},
		map[string]string{"OPENAI_API_KEY": apiKey})
}

func TestSecretsAreMaskedInEveryForm(t *testing.T) {
	quoted, err := json.Marshal(password)
	if err != nil {
		t.Fatal(err)
	}
	inner := string(quoted[1 : len(quoted)-1])
	r := redactor()
	for name, c := range map[string]struct{ text, want string }{
		"plain":            {"key=" + apiKey + ".", "key=[secret OPENAI_API_KEY]."},
		"twice":            {apiKey + apiKey, "[secret OPENAI_API_KEY][secret OPENAI_API_KEY]"},
		"strange letters":  {"<" + password + ">", "<[secret DB_PASSWORD]>"},
		"escaped in JSON":  {`{"p":"` + inner + `"}`, `{"p":"[secret DB_PASSWORD]"}`},
		"in a query":       {"?p=" + url.QueryEscape(password) + "&x", "?p=[secret DB_PASSWORD]&x"},
		"in a path":        {"/" + url.PathEscape(password) + "/x", "/[secret DB_PASSWORD]/x"},
		"small hex digits": {strings.ToLower(url.QueryEscape("Ü")) + smallHex(url.QueryEscape(password)), "%c3%9c[secret DB_PASSWORD]"},
		"many lines":       {pem + "\n", "[secret SSH_KEY]\n"},
		"one line of many": {"+" + strings.Split(pem, "\n")[1] + "\n", "+[secret SSH_KEY]\n"},
		"nothing":          {"something-long-enough /usr/local/bin:/usr/bin -----BEGIN PRIVATE KEY-----", "something-long-enough /usr/local/bin:/usr/bin -----BEGIN PRIVATE KEY-----"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := r.Text(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := string(r.Bytes([]byte(c.text))); got != c.want {
				t.Errorf("as bytes: got %q, want %q", got, c.want)
			}
		})
	}
}

func TestBase64OfASecretIsMaskedWhereverItLies(t *testing.T) {
	r := redactor()
	for before := range 7 {
		for behind := range 4 {
			whole := strings.Repeat("u", before) + apiKey + strings.Repeat("v", behind)
			for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
				got := r.Text("Authorization: Basic " + enc.EncodeToString([]byte(whole)))
				if !strings.Contains(got, "[secret OPENAI_API_KEY]") {
					t.Errorf("%d before, %d behind: %s", before, behind, got)
				}
			}
		}
	}
}

func TestLongestSecretWins(t *testing.T) {
	r := New(nil, map[string]string{"SHORT": "abcdefghijkl", "LONG": "abcdefghijklmnop", "LATER": "cdefghijklmn"})
	for text, want := range map[string]string{
		"abcdefghijklmnop":  "[secret LONG]",
		"abcdefghijklmno":   "[secret SHORT]mno",
		"xbcdefghijklmnop":  "xb[secret LATER]op",
		"abcdefghijkabcdef": "abcdefghijkabcdef",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
		if got := written(t, r, text, 1); got != want {
			t.Errorf("%s, byte by byte: got %s, want %s", text, got, want)
		}
	}
}

func TestJSONStaysValid(t *testing.T) {
	digits := "123456789012345"
	r := New([]string{"A_TOKEN=" + `a","b":"c-and-more`, "PIN_SECRET=" + digits}, map[string]string{"K": apiKey, "P": password})
	escaped := ""
	for _, c := range apiKey {
		escaped += fmt.Sprintf(`\u%04x`, c)
	}
	for raw, want := range map[string]string{
		`{"x":"` + apiKey + `"}`:                         `{"x":"[secret K]"}`,
		`{"` + apiKey + `":1}`:                           `{"[secret K]":1}`,
		`["` + escaped + `", "<\n>"]`:                    `["[secret K]", "<\n>"]`,
		`{"a":"a","b":"c-and-more"}`:                     `{"a":"a","b":"c-and-more"}`,
		`["a\",\"b\":\"c-and-more<"]`:                    `["[secret A_TOKEN]<"]`,
		`[` + digits + `,-1.5e3,true]`:                   `["[secret PIN_SECRET]",-1.5e3,true]`,
		`"{\"deep\":\"p\\\"ss/w<rd\\\\ with & ünïcode"`:  `"{\"deep\":\"[secret P]"`,
		`{"cut":"` + apiKey:                              `{"cut":"[secret K]`,
		`["p\"ss/w<rd\\ with & ünïcode\""]`:              `["[secret P]\""]`,
		`{"nothing": ["here", 1, null, "\u00e9", "\/"]}`: `{"nothing": ["here", 1, null, "\u00e9", "\/"]}`,
	} {
		got := string(r.JSON([]byte(raw)))
		if got != want {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
		if json.Valid([]byte(raw)) && !json.Valid([]byte(got)) {
			t.Errorf("%s became invalid: %s", raw, got)
		}
	}
}

// written is what comes out of a Writer when text goes in n bytes at a time.
func written(t testing.TB, r *Redactor, text string, n int) string {
	t.Helper()
	var out bytes.Buffer
	w := r.Writer(&out)
	for len(text) > 0 {
		n = min(n, len(text))
		if k, err := w.Write([]byte(text[:n])); k != n || err != nil {
			t.Fatalf("wrote %d of %d, %v", k, n, err)
		}
		text = text[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestSecretsCutAcrossWritesAreCaught(t *testing.T) {
	r := redactor()
	text := "a " + apiKey + " b " + password + " c " + pem + " d " + apiKey[:20]
	for n := 1; n < 40; n++ {
		if got, want := written(t, r, text, n), r.Text(text); got != want {
			t.Errorf("in pieces of %d: got %q, want %q", n, got, want)
		}
	}
}

func TestOrdinaryTextIsNotHeldBack(t *testing.T) {
	var out bytes.Buffer
	w := redactor().Writer(&out)
	if _, err := w.Write([]byte("progress 50%\n")); err != nil || out.String() != "progress 50%\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

type broken struct{}

var errBroken = errors.New("broken pipe")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestWriterPassesErrorsOn(t *testing.T) {
	for _, r := range []*Redactor{nil, redactor()} {
		if _, err := r.Writer(broken{}).Write([]byte("some text\n")); !errors.Is(err, errBroken) {
			t.Errorf("got %v", err)
		}
	}
	w := redactor().Writer(broken{})
	if _, err := w.Write([]byte(apiKey[:5])); err != nil {
		t.Errorf("holding back cannot fail: %v", err)
	}
	if err := w.Close(); !errors.Is(err, errBroken) {
		t.Errorf("closing: got %v", err)
	}
}

func TestNoSecretsNoWork(t *testing.T) {
	r := New([]string{"PATH=/usr/bin:/bin:/usr/local/bin", "MY_TOKEN=short", "HOME=/home/someone", "broken"}, map[string]string{"K": ""})
	if r != nil {
		t.Fatalf("got %v, want nil", r)
	}
	if r.Text(apiKey) != apiKey || string(r.Bytes([]byte(apiKey))) != apiKey || string(r.JSON([]byte(apiKey))) != apiKey || written(t, r, apiKey, 3) != apiKey {
		t.Error("the nil Redactor changes text")
	}
}

func TestCleanTextIsNotCopied(t *testing.T) {
	r := redactor()
	s := strings.Repeat("a line of output without anything private\n", 100)
	b := []byte(s)
	j := []byte(`{"a":"plain","b":[1,2,"more"]}`)
	for name, do := range map[string]func(){"Text": func() { r.Text(s) }, "Bytes": func() { r.Bytes(b) }, "JSON": func() { r.JSON(j) }} {
		if n := testing.AllocsPerRun(300, do); n > 0 { // so often that what the runtime does meanwhile does not count
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func TestNamesThatLookSecret(t *testing.T) {
	for name, want := range map[string]bool{
		"OPENAI_API_KEY": true, "GITHUB_TOKEN": true, "AWS_SECRET_ACCESS_KEY": true, "AWS_ACCESS_KEY_ID": true, "PGPASSWORD": true,
		"MYSQL_PWD": true, "DB_PASS": true, "npm_config__auth": true, "HTTP_AUTHORIZATION": true, "openaiApiKey": true,
		"GOOGLE_APPLICATION_CREDENTIALS": true, "SECRET_KEY_BASE": true, "GITHUB_PAT": true, "MYPASSWD": true, "x-api-key": true,
		"PATH": false, "SSH_AUTH_SOCK": false, "PWD": false, "OLDPWD": false, "GIT_AUTHOR_NAME": false, "XAUTHORITY": false,
		"KEYBOARD": false, "MONKEY": false, "TOKENIZERS_PARALLELISM": false, "SSH_KEY_PATH": false, "COMPASS": false, "": false, "_": false,
	} {
		if got := LooksSecret(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestValuesThatArePlainlyNoSecret(t *testing.T) {
	for value, want := range map[string]bool{
		"/home/someone/.config/key.json": true, "~/keys/private": true, `C:\Users\someone\key`: true, "/Users/someone/key": true,
		"https://login.example/oauth2": true, "https://user:pw@db.example/": false, "https://hooks.example/?t=abc": false,
		"/q7BFUpkGp3+LQmlQYx2eqz/DV": false, "/abcdefghijklmnopqrstu": false, "hunter2hunter2": false, "": false,
	} {
		if got := looksHarmless(value); got != want {
			t.Errorf("%s: got %v, want %v", value, got, want)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("token is "+apiKey, apiKey, uint8(3))
	f.Add(`{"a":"`+apiKey+`"}`, apiKey, uint8(1))
	f.Add("aaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "aaaaaaaaaaaaab", uint8(2))
	f.Add(pem, pem, uint8(7))
	f.Fuzz(func(t *testing.T, text, value string, n uint8) {
		r := New(nil, map[string]string{"K": value})
		got := r.Text(text)
		if v := strings.TrimSpace(value); len(v) >= minLength && !strings.Contains(v+text, "[") {
			for _, part := range strings.Split(got, "[secret K]") {
				if strings.Contains(part, v) {
					t.Fatalf("%q still holds %q", got, v)
				}
			}
		}
		if w := written(t, r, text, int(n)%9+1); w != got {
			t.Fatalf("in pieces %q, whole %q", w, got)
		}
		if raw := []byte(text); json.Valid(raw) && !json.Valid(r.JSON(raw)) {
			t.Fatalf("%s became invalid: %s", raw, r.JSON(raw))
		}
	})
}

func BenchmarkText(b *testing.B) {
	r := redactor()
	s := strings.Repeat("a line of output without anything private in it\n", 20_000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		r.Text(s)
	}
}

func BenchmarkJSON(b *testing.B) {
	r := redactor()
	s := []byte(`["` + strings.Repeat(`a line of output\n\twith escapes\n`, 20_000) + `"]`)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		r.JSON(s)
	}
}
