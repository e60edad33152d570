package convo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Words is the body of what a person said, where that was more than text.
type Words struct {
	Images []Image `json:"images"`
}

func (Words) kind() Kind { return KindUser }

// An Image is a picture that a person shows to the model.
type Image struct {
	Name  string `json:"name,omitempty"` // what the person calls it: its path, mostly
	Media string `json:"media_type"`
	Data  []byte `json:"data"` // base64 in JSON
}

// MostImage is how large a picture may be: the smallest limit of all providers.
const MostImage = 5 << 20

// NewImage is a picture in one of the forms that every provider takes: PNG,
// JPEG, GIF or WebP, told by its first bytes.
func NewImage(name string, data []byte) (Image, error) {
	if len(data) > MostImage {
		return Image{}, fmt.Errorf("%s is larger than %d MB", name, MostImage>>20)
	}
	media := mediaType(data)
	if media == "" {
		return Image{}, fmt.Errorf("%s is neither PNG nor JPEG nor GIF nor WebP", name)
	}
	return Image{Name: name, Media: media, Data: data}, nil
}

func mediaType(data []byte) string {
	for _, m := range []struct{ media, first string }{
		{"image/png", "\x89PNG\r\n\x1a\n"},
		{"image/jpeg", "\xff\xd8\xff"},
		{"image/gif", "GIF87a"},
		{"image/gif", "GIF89a"},
	} {
		if bytes.HasPrefix(data, []byte(m.first)) {
			return m.media
		}
	}
	if len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		return "image/webp"
	}
	return ""
}

// NotSent stands in the words for a picture that the model does not get.
func (i Image) NotSent(why string) string { return NotSent(i.Name, len(i.Data), why) }

// NotSent is a line about a picture of that name and size.
func NotSent(name string, size int, why string) string {
	if name == "" {
		name = "without a name"
	}
	return fmt.Sprintf("[image %s, %d kB, not sent: %s]", name, (size+999)/1000, why)
}

// readWords reads the data of a person's words. Other data than ours is kept as
// it was.
func readWords(raw json.RawMessage, _ string) (Body, error) {
	var w Words
	if err := json.Unmarshal(raw, &w); err != nil || len(w.Images) == 0 {
		return Unknown{Of: KindUser, Data: slices.Clone(raw)}, nil
	}
	return w, nil
}
