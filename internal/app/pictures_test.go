package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
)

func TestPicturesAreMentionedWithAnAt(t *testing.T) {
	for text, want := range map[string][]string{
		"what is @a.png":                         {"a.png"},
		"@a.png":                                 {"a.png"},
		"see @img/a.JPG, and (@b.webp).":         {"img/a.JPG", "b.webp"},
		"twice @a.png @a.png":                    {"a.png"},
		`with blanks @"my shots/a b.png" and on`: {"my shots/a b.png"},
		"line\n@/tmp/x.gif\nline":                {"/tmp/x.gif"},
		"mail me@a.png":                          nil,
		"code @main.go":                          nil,
		"nothing @":                              nil,
		`open @"a.png`:                           {"a.png"},
	} {
		if got := mentionedPictures(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPromptGetsThePicturesItMentions(t *testing.T) {
	dir := t.TempDir()
	gif := []byte("GIF89a")
	for name, data := range map[string][]byte{
		"a.gif": gif, "fake.png": []byte("words"), "big.gif": append(slices.Clone(gif), make([]byte, convo.MostImage)...),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.png"), 0o700); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(dir, "a.gif")
	text := "look at @a.gif @" + whole + " @fake.png @big.gif @gone.png @folder.png"
	p := withPictures(agent.Prompt{Text: text, Images: []convo.Image{{Name: "pasted"}}}, dir).(agent.Prompt)
	var names []string
	for _, i := range p.Images {
		names = append(names, i.Name)
	}
	if !slices.Equal(names, []string{"pasted", "a.gif", whole}) {
		t.Errorf("attached %q", names)
	}
	for _, want := range []string{text, "[image fake.png, 1 kB, not sent: fake.png is neither PNG nor JPEG nor GIF nor WebP]", "[image big.gif, 5243 kB, not sent: it is larger than 5 MB]"} {
		if !strings.Contains(p.Text, want) {
			t.Errorf("%q is not in %q", want, p.Text)
		}
	}
	if strings.Contains(p.Text, "[image gone") || strings.Contains(p.Text, "[image folder") {
		t.Errorf("what is no file became a picture: %q", p.Text)
	}
	if op := withPictures(agent.Interrupt{}, dir); op != (agent.Interrupt{}) {
		t.Errorf("another op became %v", op)
	}
}
