//go:build linux

package main

import (
	"fmt"
	"html"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"ikigai/internal/fake"
)

// The pictures of the README are screens of the real program. Only durations are
// set to fixed ones, so that the same program gives the same picture.
func TestThePictures(t *testing.T) {
	for _, light := range []bool{false, true} {
		for name, scene := range map[string]func(*testing.T, look) *terminal{"chat": chatPicture, "permission": permissionPicture} {
			t.Run(fmt.Sprintf("%s light %v", name, light), func(t *testing.T) {
				x := scene(t, look{cols: 96, rows: 28, light: light})
				file := filepath.Join("..", "..", "docs", "pictures", name+"-"+x.theme+".svg")
				x.until(func() bool { return holds(file, x.svg()) || updating() && x.still() }, "the picture differs; scripts/pictures.sh makes it anew")
				same(t, file, x.svg())
			})
		}
	}
}

const checkoutMakefile = "test:\n\t@for i in 1 2 3 4 5 6 7 8 9; do echo \"--- PASS: TestCheckout (0.4$${i}s)\"; done\n\t@echo '--- FAIL: TestCheckout (2.03s)'\n\t@sleep 30\n"

func chatPicture(t *testing.T, l look) *terminal {
	s := l.stage(t,
		fake.Reply{
			Text: "I will look at the **retry code**, then run the test a few times.\n\n", Usage: &[2]int{9100, 48},
			Calls: []fake.Call{call("a", "file_read", `{"path":"retry.go"}`), call("b", "grep", `{"pattern":"Retry"}`)},
		},
		fake.Reply{Usage: &[2]int{9800, 31}, Text: "`Retry` sleeps without looking at the context:\n\n```go\ntime.Sleep(d) // nobody can stop it\n```\n", Calls: []fake.Call{call("c", "bash", `{"command":"make test"}`)}},
	)
	s.env = append(s.env, "IKIGAI_MODEL=openai/gpt-5")
	s.write(t, "retry.go", retryGo)
	s.write(t, "Makefile", checkoutMakefile)
	x := l.open(t, s, "--mode", "auto")
	x.send("the checkout test is flaky, find out why\r")
	x.waitFor("--- FAIL")
	x.send("also check the timeout in config.yaml\t")
	x.waitFor("queued")
	return x
}

func permissionPicture(t *testing.T, l look) *terminal {
	edit := `{"path":"retry.go","edits":[{"old_text":"\t\ttime.Sleep(d)","new_text":"\t\tselect {\n\t\tcase <-time.After(d):\n\t\tcase <-ctx.Done():\n\t\t\treturn ctx.Err()\n\t\t}"}]}`
	s := l.stage(t,
		fake.Reply{Text: "The loop ignores the context. I let it end early.\n\n", Calls: []fake.Call{call("r", "file_read", `{"path":"retry.go","limit":3}`)}},
		fake.Reply{Calls: []fake.Call{call("a", "file_edit", edit), call("b", "bash", `{"command":"go test ./... && git push"}`)}},
	)
	s.env = append(s.env, "IKIGAI_MODEL=openai/gpt-5")
	s.write(t, "retry.go", retryGo)
	x := l.open(t, s)
	x.send("mend it and push\r")
	x.waitFor("1 of 2 in this batch")
	x.answerable()
	return x
}

// fixed are durations as the pictures show them.
func fixed(s string) string {
	s = regexp.MustCompile(`<1[ \x{a0}]ms|\d+[ \x{a0}]ms`).ReplaceAllString(s, "3 ms")
	s = regexp.MustCompile(`\d+\.\d[ \x{a0}]s`).ReplaceAllString(s, "6.2 s")
	s = regexp.MustCompile(` ·( (model|tools|you) [0-9ms]+)+`).ReplaceAllString(s, "")
	return regexp.MustCompile(` {3,}(esc stop · tab queue|\? keys)`).ReplaceAllString(s, "     $1")
}

// A palette is the sixteen colours of a terminal, as far as they are used.
var palettes = map[string]map[string]string{
	"dark":  {"": "#d8dee9", "back": "#1f2430", "red": "#f07178", "green": "#87d96c", "yellow": "#ffd173", "magenta": "#dfbfff", "cyan": "#5ccfe6", "blue": "#73d0ff"},
	"light": {"": "#383a42", "back": "#fafafa", "red": "#ca1243", "green": "#3d8b37", "yellow": "#986801", "magenta": "#a626a4", "cyan": "#0184bc", "blue": "#4078f2"},
}

const cellWide, cellHigh = 8.4, 18.0

// svg is the end of what was written as a picture.
func (x *terminal) svg() string {
	_, looks := x.marks(fixed)
	rows := strings.Split(strings.TrimRight(looks, "\n"), "\n")
	colours := palettes[x.theme]
	var b strings.Builder
	width, height := float64(x.em.Width())*cellWide+24, float64(len(rows))*cellHigh+24
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"14\" fill=\"%s\">\n", width, height, colours[""])
	fmt.Fprintf(&b, "<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"%s\"/>\n", colours["back"])
	for y, row := range rows {
		svgRow(&b, row, y, colours)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// svgRow draws the pieces of a row, each where it stands whatever the font.
func svgRow(b *strings.Builder, row string, y int, colours map[string]string) {
	col := 0
	for _, m := range regexp.MustCompile(`(?:\x{e000}([a-z,]*)\x{e001})?([^\x{e000}]+)`).FindAllStringSubmatch(row, -1) {
		looks, text := m[1], m[2]
		wide := utf8.RuneCountInString(text)
		at := fmt.Sprintf(`x="%.1f" y="%.1f"`, 12+float64(col)*cellWide, 26+float64(y)*cellHigh)
		col += wide
		if strings.Contains(looks, "r") && !strings.Contains(looks, "red") && !strings.Contains(looks, "green") {
			fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", 12+float64(col-wide)*cellWide, 12+float64(y)*cellHigh, float64(wide)*cellWide, cellHigh)
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		fmt.Fprintf(b, "<text xml:space=\"preserve\" %s textLength=\"%.1f\"%s>%s</text>\n", at, float64(wide)*cellWide, svgLook(looks, colours), html.EscapeString(text))
	}
}

var svgLooks = map[string]string{"b": ` font-weight="bold"`, "f": ` opacity="0.6"`, "i": ` font-style="italic"`, "u": ` text-decoration="underline"`}

func svgLook(looks string, colours map[string]string) string {
	attributes := ""
	for _, l := range strings.Split(looks, ",") {
		attributes += svgLooks[l]
		if c := colours[l]; l != "" && c != "" {
			attributes += fmt.Sprintf(` fill="%s"`, c)
		}
	}
	return attributes
}
