package convo

import (
	"strings"
	"testing"
)

func TestPicturesAreToldByTheirFirstBytes(t *testing.T) {
	for data, want := range map[string]string{
		"\x89PNG\r\n\x1a\nrest":        "image/png",
		"\xff\xd8\xff\xe0rest":         "image/jpeg",
		"GIF87arest":                   "image/gif",
		"GIF89arest":                   "image/gif",
		"RIFF\x01\x02\x03\x04WEBPVP8 ": "image/webp",
		"RIFF\x01\x02\x03\x04WAVE":     "",
		"RIFF":                         "",
		"<svg/>":                       "",
		"BM":                           "",
		"":                             "",
	} {
		i, err := NewImage("x", []byte(data))
		if i.Media != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v", data, i.Media, err)
		}
	}
}

func TestPictureMayNotBeTooLarge(t *testing.T) {
	data := append([]byte("GIF89a"), make([]byte, MostImage)...)
	if _, err := NewImage("x.gif", data); err == nil || !strings.Contains(err.Error(), "x.gif is larger than 5 MB") {
		t.Errorf("got %v", err)
	}
	if _, err := NewImage("x.gif", data[:MostImage]); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestLineForAPictureThatIsNotSent(t *testing.T) {
	i := Image{Name: "a.png", Data: make([]byte, 119_001)}
	if got, want := i.NotSent("m takes no images"), "[image a.png, 120 kB, not sent: m takes no images]"; got != want {
		t.Errorf("got %s", got)
	}
}
