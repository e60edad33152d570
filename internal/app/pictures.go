package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
)

// showing is a session that gets the pictures which a prompt mentions.
type showing struct {
	agent.Session
	dir string
}

func (s showing) Send(op agent.Op) { s.Session.Send(withPictures(op, s.dir)) }

// withPictures adds to a prompt the pictures that it mentions as @path, or as
// @"path" where that has blanks; a path that does not begin at the root is below
// dir. The words stay as they are, with a line more for each picture that cannot
// be sent. What is no file is nothing but words.
func withPictures(op agent.Op, dir string) agent.Op {
	p, ok := op.(agent.Prompt)
	if !ok {
		return op
	}
	for _, path := range mentionedPictures(p.Text) {
		image, why := readPicture(dir, path)
		switch {
		case why != "":
			p.Text += "\n\n" + why
		case image.Data != nil:
			p.Images = append(slices.Clip(p.Images), image)
		}
	}
	return p
}

// mentionedPictures are the paths of pictures that stand behind an @, each once.
func mentionedPictures(text string) []string {
	var paths []string
	for i := 0; i < len(text); i++ {
		if text[i] != '@' || i > 0 && !strings.ContainsRune(" \t\r\n([{<\"'`", rune(text[i-1])) {
			continue
		}
		path := mentioned(text[i+1:])
		i += len(path)
		if isPicture(path) && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// mentioned is the path at the start of rest, without the quotes round it or the
// punctuation behind it.
func mentioned(rest string) string {
	if quoted, ok := strings.CutPrefix(rest, `"`); ok {
		path, _, _ := strings.Cut(quoted, `"`)
		return path
	}
	if end := strings.IndexAny(rest, " \t\r\n"); end >= 0 {
		rest = rest[:end]
	}
	return strings.TrimRight(rest, ".,;:!?)]}>\"'`")
}

func isPicture(path string) bool {
	return slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp"}, strings.ToLower(filepath.Ext(path)))
}

// readPicture gives a picture, or a line about one that cannot be sent, or
// neither where there is no such file.
func readPicture(dir, path string) (image convo.Image, why string) {
	full := path
	if !filepath.IsAbs(path) {
		full = filepath.Join(dir, path)
	}
	info, err := os.Stat(full)
	if err != nil || !info.Mode().IsRegular() {
		return convo.Image{}, ""
	}
	if info.Size() > convo.MostImage {
		return convo.Image{}, convo.NotSent(path, int(info.Size()), "it is larger than 5 MB")
	}
	data, err := os.ReadFile(full)
	if err != nil {
		return convo.Image{}, convo.NotSent(path, int(info.Size()), "it cannot be read")
	}
	image, err = convo.NewImage(path, data)
	if err != nil {
		return convo.Image{}, convo.NotSent(path, len(data), err.Error())
	}
	return image, ""
}
