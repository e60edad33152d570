package provider

import (
	"slices"

	"ikigai/internal/dialect"
)

// A Row says all there is to know about one provider that speaks a known wire
// format. To add a provider is to add a row.
type Row struct {
	Name      string
	Format    string         // the wire format at its own address
	Elsewhere string         // the wire format at any other address; empty means Format
	Base      string         // its own address; empty means that one must be named
	Root      string         // the path of an address that has none, where it differs from the format's
	BaseVars  []string       // variables that name another address
	KeyVars   []string       // variables that may hold its key, in order
	NeedsKey  bool           // at its own address nothing works without a key
	KeyHeader string         // the header of the key, where it differs from the format's
	Sells     string         // whose models it offers under their own names
	Start     string         // for a server on this machine: how to start it
	Pull      string         // for such a server: how to get a model
	Quirks    dialect.Quirks // how it differs from the format
}

// Local reports whether the row is a server that runs on this machine.
func (r Row) Local() bool { return r.Start != "" }

var rows = []Row{
	{Name: "openai", Format: "responses", Elsewhere: "openai", Base: "https://api.openai.com/v1", BaseVars: []string{"OPENAI_BASE_URL"}, KeyVars: []string{"OPENAI_API_KEY"}, NeedsKey: true},
	{Name: "anthropic", Format: "anthropic", Base: "https://api.anthropic.com", BaseVars: []string{"ANTHROPIC_BASE_URL"}, KeyVars: []string{"ANTHROPIC_API_KEY"}, NeedsKey: true},
	{Name: "google", Format: "gemini", Base: "https://generativelanguage.googleapis.com/v1beta", KeyVars: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, NeedsKey: true},
	{Name: "ollama", Format: "ollama", Base: "http://127.0.0.1:11434", BaseVars: []string{"OLLAMA_HOST"}, KeyVars: []string{"OLLAMA_API_KEY"}, Start: "ollama serve", Pull: "ollama pull"},
	{Name: "xai", Format: "openai", Base: "https://api.x.ai/v1", KeyVars: []string{"XAI_API_KEY"}, NeedsKey: true, Quirks: dialect.Quirks{ReasoningApart: true}},
	{Name: "meta", Format: "openai", Base: "https://api.llama.com/compat/v1", KeyVars: []string{"LLAMA_API_KEY"}, NeedsKey: true},
	{Name: "openrouter", Format: "openai", Base: "https://openrouter.ai/api/v1", KeyVars: []string{"OPENROUTER_API_KEY"}, NeedsKey: true, Quirks: dialect.Quirks{CacheMarks: true}},
	{Name: "groq", Format: "openai", Base: "https://api.groq.com/openai/v1", KeyVars: []string{"GROQ_API_KEY"}, NeedsKey: true},
	{Name: "mistral", Format: "openai", Base: "https://api.mistral.ai/v1", KeyVars: []string{"MISTRAL_API_KEY"}, NeedsKey: true, Quirks: dialect.Quirks{NoStreamOptions: true, ToolChoiceAny: true, ShortIDs: true, NameInResult: true, Bridge: true}},
	{Name: "deepseek", Format: "openai", Base: "https://api.deepseek.com/v1", KeyVars: []string{"DEEPSEEK_API_KEY"}, NeedsKey: true, Quirks: dialect.Quirks{EchoReasoning: true}},
	{Name: "azure", Format: "openai", Root: "/openai/v1", BaseVars: []string{"AZURE_OPENAI_ENDPOINT"}, KeyVars: []string{"AZURE_OPENAI_API_KEY"}, NeedsKey: true, KeyHeader: "api-key", Sells: "openai", Quirks: dialect.Quirks{MaxTokensField: "max_completion_tokens"}},
	{Name: "lmstudio", Format: "openai", Base: "http://127.0.0.1:1234/v1", KeyVars: []string{"LMSTUDIO_API_KEY"}, Start: "lms server start"},
	{Name: "llamacpp", Format: "openai", Base: "http://127.0.0.1:8080/v1", KeyVars: []string{"LLAMACPP_API_KEY"}, Start: "llama-server --jinja -m MODEL.gguf"},
	{Name: "vllm", Format: "openai", Base: "http://127.0.0.1:8000/v1", KeyVars: []string{"VLLM_API_KEY"}, Start: "vllm serve MODEL"},
}

// Rows are all providers known by name, in the order of the table.
func Rows() []Row { return slices.Clone(rows) }

// Names are the names of all providers, in the order of the table.
func Names() []string {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Name
	}
	return names
}

// Find gives the row of that name.
func Find(name string) (Row, bool) {
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return Row{}, false
	}
	return rows[i], true
}
