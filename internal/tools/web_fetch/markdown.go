package web_fetch

import (
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
)

// Markdown makes Markdown of a page; its links are completed from where it was
// found. What cannot be parsed, such as absurdly deep nesting, gives its words
// without their form.
func Markdown(page, from string) string {
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false)), table.NewTablePlugin()))
	out, err := c.ConvertString(page, converter.WithDomain(from))
	if err != nil {
		return bare(page)
	}
	return strings.TrimSpace(out)
}

// bare is the text of a page between its tags, without scripts and styles.
func bare(page string) string {
	var b strings.Builder
	skip := ""
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(b.String())
		case html.StartTagToken:
			if name, _ := z.TagName(); skip == "" && (string(name) == "script" || string(name) == "style") {
				skip = string(name)
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == skip {
				skip = ""
			}
		case html.TextToken:
			if words := strings.TrimSpace(string(z.Text())); skip == "" && words != "" {
				b.WriteString(html.UnescapeString(words) + "\n")
			}
		}
	}
}
