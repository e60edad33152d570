package app

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"ikigai/internal/address"
)

func (a *app) debugURLCommand() *cobra.Command {
	return &cobra.Command{
		Use: "url", Short: "Say whether a web address may be fetched, and what would be dialled", Args: cobra.NoArgs,
		Long: `Say whether a web address may be fetched, and what would be dialled. Nothing is looked up or dialled.

  {"id","url","dns":{name:[address,...]},"redirects":[location,...]} -> {"id","outcome","dial"}

The outcomes: allowed, denied, validation_failed. A list of lists in dns is the answer to
the first, second, ... look-up of that name; the last one repeats.`,
		RunE: func(*cobra.Command, []string) error { return a.eachLine(judgeURL) },
	}
}

type urlAnswer struct {
	Outcome string `json:"outcome"`
	Dial    string `json:"dial,omitempty"`
}

func judgeURL(r row) (any, error) {
	url, err := r.text("url")
	if err != nil {
		return nil, err
	}
	names := map[string]*answers{}
	if err := r.value("dns", &names); err != nil {
		return nil, err
	}
	var redirects []string
	if err := r.value("redirects", &redirects); err != nil {
		return nil, err
	}
	lookup := func(name string) []string { return names[name].next() }
	outcome, dial := address.Judge(url, lookup, redirects)
	return urlAnswer{outcome, dial}, nil
}

// answers are what the first, second, ... look-up of a name gives.
type answers struct {
	lists [][]string
	asked int
}

// UnmarshalJSON reads a list of addresses, or a list of such lists.
func (a *answers) UnmarshalJSON(raw []byte) error {
	var one []string
	if json.Unmarshal(raw, &one) == nil {
		a.lists = [][]string{one}
		return nil
	}
	return json.Unmarshal(raw, &a.lists)
}

func (a *answers) next() []string {
	if a == nil || len(a.lists) == 0 {
		return nil
	}
	n := min(a.asked, len(a.lists)-1)
	a.asked++
	return a.lists[n]
}
