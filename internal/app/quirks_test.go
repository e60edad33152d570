package app

import (
	"os"
	"testing"

	"ikigai/internal/config"
	"ikigai/internal/dialect"
	"ikigai/internal/provider"
)

func homeless(t *testing.T) *app {
	t.Helper()
	home := t.TempDir()
	return &app{env: Env{Environ: []string{"HOME=" + home, "OLLAMA_HOST=box:1"}, Home: home, Dir: home}}
}

func TestWhatAProbeLearntBelongsToTheEndpoint(t *testing.T) {
	a := homeless(t)
	here := a.endpoint(&config.Config{Settings: config.Settings{BaseURL: "http://box/v1"}}, "openai/a")
	own := a.endpoint(&config.Config{}, "openai/a")
	odd := dialect.Quirks{NoStreamOptions: true}
	for range 2 { // the second time nothing changes
		if differs, err := a.learn(here, odd); err != nil || !differs {
			t.Fatalf("%v, %v", differs, err)
		}
	}
	if q := a.quirks(here); q == nil || *q != odd {
		t.Errorf("at that address: %+v", q)
	}
	if q := a.quirks(own); q != nil {
		t.Errorf("at the provider's own address: %+v", q)
	}
	row, _ := provider.Find("openai")
	if differs, err := a.learn(here, row.Quirks); err != nil || differs {
		t.Errorf("%v, %v", differs, err)
	}
	if q := a.quirks(here); q != nil {
		t.Errorf("it was to be forgotten: %+v", q)
	}
}

func TestAnAddressFromTheEnvironmentIsAnotherEndpoint(t *testing.T) {
	a := homeless(t)
	if e := a.endpoint(&config.Config{}, "ollama/x"); e.Address != "box:1" {
		t.Errorf("got %+v", e)
	}
	if e := a.endpoint(&config.Config{Settings: config.Settings{BaseURL: "http://given"}}, "ollama/x"); e.Address != "http://given" {
		t.Errorf("got %+v", e)
	}
}

func TestADamagedFileOfLessonsHasTaughtNothing(t *testing.T) {
	a := homeless(t)
	e := endpoint{Provider: "openai", Address: "http://box/v1"}
	if _, err := a.learn(e, dialect.Quirks{ShortIDs: true}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.lessonsFile(), []byte("{oops"), 0o600); err != nil {
		t.Fatal(err)
	}
	if q := a.quirks(e); q != nil {
		t.Errorf("got %+v", q)
	}
	if _, err := a.learn(e, dialect.Quirks{ShortIDs: true}); err != nil || a.quirks(e) == nil {
		t.Errorf("it could not learn again: %v", err)
	}
}

func TestLessonsThatCannotBeKeptAreAnError(t *testing.T) {
	a := homeless(t)
	if err := os.WriteFile(a.env.Home+"/.local", nil, 0o600); err != nil { // where the folder should be
		t.Fatal(err)
	}
	if _, err := a.learn(endpoint{Provider: "openai"}, dialect.Quirks{ShortIDs: true}); err == nil {
		t.Error("no error")
	}
}
