// Package config reads the settings: defaults, the user's file, the file of a
// trusted project, environment variables and flags, later over earlier, each
// value remembering where it came from. One table describes every setting once;
// the file, the variables, the flags, the JSON Schema and the listing all come
// from it. Only app imports this package: every other part gets a small options
// struct of its own.
package config

import "time"

// Settings are all settings in force.
type Settings struct {
	Model   string
	BaseURL string
	Dialect string
	Effort  string
	Mode    string
	Sandbox string
	Allow   []string
	Ask     []string
	Deny    []string
	AddDirs []string
	Store   string

	Tools     Tools
	Limits    Limits
	Budgets   Budgets
	Network   Network
	Screen    Screen
	Strict    bool   // paths.strict: no absolute paths at all
	Search    string // web.provider
	Confirm   bool
	Ephemeral bool
}

// Tools say which tools there are and how large and slow they may be.
type Tools struct {
	Set           string
	Dirs          []string
	FS, Exec, Web bool
	Fetch         bool
	Timeout       time.Duration
	SchemaTimeout time.Duration
	MaxOutput     int
	Parallel      bool
}

// Limits bound one prompt.
type Limits struct {
	Turns int
	Calls int
	Cost  float64
	Time  time.Duration
	Loop  int
}

// Budgets bound what a prompt beyond its Limits, a session and a day may use. Zero
// means no bound.
type Budgets struct{ Prompt, Session, Day Budget }

// A Budget is so much of everything that is used up.
type Budget struct {
	Turns  int
	Calls  int
	Tokens int
	Cost   float64
	Time   time.Duration
}

// Network bounds waiting for a provider.
type Network struct {
	Connect    time.Duration
	FirstEvent time.Duration
	Idle       time.Duration
	CAFile     string
}

// Screen says how things are shown.
type Screen struct {
	Output    string
	Quiet     bool
	Verbose   bool
	Color     string
	ToolLines int
}

// A Setting describes one setting: its key in the file, its flag, its
// variables, and where in Settings it lives.
type Setting struct {
	Key     string   // in the file; a dot leads into an object
	Flag    string   // without dashes; empty when there is none
	Env     []string // the first is ours, the others are read as aliases
	Old     []string // other keys that mean the same, from the seeds
	Doc     string
	Allowed []string // words; empty means any
	Default string   // as a flag would be written
	Project bool     // a project may set it before it is trusted: it names no program, address or value of the environment
	field   func(*Settings) any
}

// Table is every setting, in the order in which they are listed.
func Table() []Setting { return table }

var table = []Setting{
	{
		Key: "model", Flag: "model", Env: []string{"IKIGAI_MODEL"}, Doc: "PROVIDER/MODEL, or demo for the offline model",
		field: func(s *Settings) any { return &s.Model },
	},
	{
		Key: "base_url", Flag: "base-url", Env: []string{"IKIGAI_BASE_URL"}, Doc: "another address for that provider",
		field: func(s *Settings) any { return &s.BaseURL },
	},
	{
		Key: "dialect", Flag: "dialect", Env: []string{"IKIGAI_DIALECT"}, Doc: "another wire format",
		Allowed: []string{"openai", "responses", "anthropic", "gemini", "ollama"},
		field:   func(s *Settings) any { return &s.Dialect },
	},
	{
		Key: "effort", Flag: "effort", Env: []string{"IKIGAI_EFFORT"}, Doc: "how much the model should think, where it can",
		Allowed: []string{"low", "medium", "high"}, Project: true,
		field: func(s *Settings) any { return &s.Effort },
	},
	{
		Key: "mode", Flag: "mode", Env: []string{"IKIGAI_MODE"}, Default: "ask", Doc: "who decides: plan reads only, ask asks, auto-edit edits unasked, auto trusts the sandbox, yolo trusts everything",
		Allowed: []string{"plan", "ask", "auto-edit", "auto", "yolo"},
		field:   func(s *Settings) any { return &s.Mode },
	},
	{
		Key: "sandbox", Flag: "sandbox", Env: []string{"IKIGAI_SANDBOX"}, Default: "auto", Doc: "auto uses what the kernel offers, require refuses to run without it, off uses none",
		Allowed: []string{"auto", "require", "off"},
		field:   func(s *Settings) any { return &s.Sandbox },
	},
	{
		Key: "allow", Flag: "allow", Doc: "rules that allow, such as bash(go test *)",
		field: func(s *Settings) any { return &s.Allow },
	},
	{
		Key: "ask", Doc: "rules that ask", Project: true,
		field: func(s *Settings) any { return &s.Ask },
	},
	{
		Key: "deny", Flag: "deny", Doc: "rules that deny", Project: true,
		field: func(s *Settings) any { return &s.Deny },
	},
	{
		Key: "add_dir", Flag: "add-dir", Env: []string{"IKIGAI_ADD_DIR"}, Doc: "further roots that file tools may use",
		field: func(s *Settings) any { return &s.AddDirs },
	},
	{
		Key: "store", Env: []string{"IKIGAI_STORE"}, Doc: "sqlite:PATH or postgres://...; empty means SQLite in the data folder",
		field: func(s *Settings) any { return &s.Store },
	},
	{
		Key: "ephemeral", Flag: "ephemeral", Env: []string{"IKIGAI_EPHEMERAL"}, Doc: "keep nothing of the session", Default: "false",
		field: func(s *Settings) any { return &s.Ephemeral },
	},
	{
		Key: "tools.set", Flag: "toolset", Env: []string{"IKIGAI_TOOLSET"}, Old: []string{"tools.profile"}, Default: "default", Doc: "default, ikigai, localharness, swebash, or a file",
		field: func(s *Settings) any { return &s.Tools.Set },
	},
	{
		Key: "tools.dirs", Flag: "tool-dir", Env: []string{"IKIGAI_TOOL_DIR"}, Doc: "further folders of executable tools",
		field: func(s *Settings) any { return &s.Tools.Dirs },
	},
	{
		Key: "tools.fs", Env: []string{"IKIGAI_TOOLS_FS", "SWEBASH_AI_TOOLS_FS"}, Old: []string{"enable_fs"}, Default: "true", Doc: "offer the file tools",
		field: func(s *Settings) any { return &s.Tools.FS },
	},
	{
		Key: "tools.exec", Env: []string{"IKIGAI_TOOLS_EXEC", "SWEBASH_AI_TOOLS_EXEC"}, Old: []string{"enable_exec"}, Default: "true", Doc: "offer tools that run programs",
		field: func(s *Settings) any { return &s.Tools.Exec },
	},
	{
		Key: "tools.web", Env: []string{"IKIGAI_TOOLS_WEB", "SWEBASH_AI_TOOLS_WEB"}, Old: []string{"enable_web"}, Default: "true", Doc: "offer tools that use the network",
		field: func(s *Settings) any { return &s.Tools.Web },
	},
	{
		Key: "tools.fetch", Env: []string{"IKIGAI_TOOLS_FETCH"}, Default: "false", Doc: "offer the tool that fetches a web page",
		field: func(s *Settings) any { return &s.Tools.Fetch },
	},
	{
		Key: "tools.confirm", Env: []string{"IKIGAI_TOOLS_CONFIRM", "SWEBASH_AI_TOOLS_CONFIRM"}, Old: []string{"require_confirmation"}, Default: "true", Doc: "false is the same as mode auto",
		field: func(s *Settings) any { return &s.Confirm },
	},
	{
		Key: "tools.timeout", Flag: "timeout", Env: []string{"IKIGAI_TIMEOUT", "SWEBASH_AI_EXEC_TIMEOUT"}, Default: "30s", Doc: "deadline of one tool call, at most 300s", Project: true,
		field: func(s *Settings) any { return &s.Tools.Timeout },
	},
	{
		Key: "tools.schema_timeout", Env: []string{"IKIGAI_SCHEMA_TIMEOUT"}, Default: "1s", Doc: "how long an executable may take to print its schema",
		field: func(s *Settings) any { return &s.Tools.SchemaTimeout },
	},
	{
		Key: "tools.max_output", Env: []string{"IKIGAI_MAX_OUTPUT", "SWEBASH_AI_FS_MAX_SIZE"}, Old: []string{"max_output_size"}, Default: "1048576", Doc: "most bytes of one tool's output", Project: true,
		field: func(s *Settings) any { return &s.Tools.MaxOutput },
	},
	{
		Key: "tools.parallel", Env: []string{"IKIGAI_PARALLEL"}, Default: "true", Doc: "run calls that only read side by side", Project: true,
		field: func(s *Settings) any { return &s.Tools.Parallel },
	},
	{
		Key: "limits.turns", Flag: "max-turns", Env: []string{"IKIGAI_MAX_TURNS", "SWEBASH_AI_TOOLS_MAX_ITER"}, Old: []string{"max_tool_turns", "max_iterations", "budget.prompt.turns"}, Default: "50", Doc: "model replies with tool calls per prompt", Project: true,
		field: func(s *Settings) any { return &s.Limits.Turns },
	},
	{
		Key: "limits.calls", Flag: "max-calls", Env: []string{"IKIGAI_MAX_CALLS"}, Old: []string{"max_tool_calls_per_turn"}, Default: "15", Doc: "tool calls per reply", Project: true,
		field: func(s *Settings) any { return &s.Limits.Calls },
	},
	{
		Key: "limits.cost", Flag: "max-cost", Env: []string{"IKIGAI_MAX_COST"}, Old: []string{"budget.prompt.cost"}, Default: "0", Doc: "dollars per prompt; 0 means no limit", Project: true,
		field: func(s *Settings) any { return &s.Limits.Cost },
	},
	{
		Key: "limits.time", Flag: "max-time", Env: []string{"IKIGAI_MAX_TIME"}, Old: []string{"budget.prompt.time"}, Default: "0s", Doc: "time per prompt; 0s means no limit", Project: true,
		field: func(s *Settings) any { return &s.Limits.Time },
	},
	{
		Key: "limits.loop", Env: []string{"IKIGAI_MAX_LOOP"}, Default: "6", Doc: "the same calls with the same results so often in a row, while nothing changes; 0 means no limit, the model is told all the same; where limits.turns is given and this is not, 0", Project: true,
		field: func(s *Settings) any { return &s.Limits.Loop },
	},
	{
		Key: "budget.prompt.calls", Env: []string{"IKIGAI_BUDGET_PROMPT_CALLS"}, Default: "0", Doc: "tool calls per prompt; 0 means no limit", Project: true,
		field: func(s *Settings) any { return &s.Budgets.Prompt.Calls },
	},
	{
		Key: "budget.prompt.tokens", Env: []string{"IKIGAI_BUDGET_PROMPT_TOKENS"}, Default: "0", Doc: "tokens of requests and replies per prompt; 0 means no limit", Project: true,
		field: func(s *Settings) any { return &s.Budgets.Prompt.Tokens },
	},
	{
		Key: "budget.session.turns", Env: []string{"IKIGAI_BUDGET_SESSION_TURNS"}, Default: "0", Doc: "model replies per session; 0 means no limit", Project: true,
		field: func(s *Settings) any { return &s.Budgets.Session.Turns },
	},
	{
		Key: "budget.session.calls", Env: []string{"IKIGAI_BUDGET_SESSION_CALLS"}, Default: "0", Doc: "tool calls per session; 0 means no limit", Project: true,
		field: func(s *Settings) any { return &s.Budgets.Session.Calls },
	},
	{
		Key: "budget.session.tokens", Env: []string{"IKIGAI_BUDGET_SESSION_TOKENS"}, Default: "0", Doc: "tokens of requests and replies per session; 0 means no limit", Project: true,
		field: func(s *Settings) any { return &s.Budgets.Session.Tokens },
	},
	{
		Key: "budget.session.cost", Env: []string{"IKIGAI_BUDGET_SESSION_COST"}, Default: "0", Doc: "dollars per session; 0 means no limit", Project: true,
		field: func(s *Settings) any { return &s.Budgets.Session.Cost },
	},
	{
		Key: "budget.session.time", Env: []string{"IKIGAI_BUDGET_SESSION_TIME"}, Default: "0s", Doc: "time from prompts to answers per session; 0s means no limit", Project: true,
		field: func(s *Settings) any { return &s.Budgets.Session.Time },
	},
	{
		Key: "budget.day.turns", Env: []string{"IKIGAI_BUDGET_DAY_TURNS"}, Default: "0", Doc: "model replies per day, over all sessions of the store; 0 means no limit", Project: true,
		field: func(s *Settings) any { return &s.Budgets.Day.Turns },
	},
	{
		Key: "budget.day.calls", Env: []string{"IKIGAI_BUDGET_DAY_CALLS"}, Default: "0", Doc: "tool calls per day, over all sessions of the store; 0 means no limit", Project: true,
		field: func(s *Settings) any { return &s.Budgets.Day.Calls },
	},
	{
		Key: "budget.day.tokens", Env: []string{"IKIGAI_BUDGET_DAY_TOKENS"}, Default: "0", Doc: "tokens of requests and replies per day, over all sessions of the store; 0 means no limit", Project: true,
		field: func(s *Settings) any { return &s.Budgets.Day.Tokens },
	},
	{
		Key: "budget.day.cost", Env: []string{"IKIGAI_BUDGET_DAY_COST"}, Default: "0", Doc: "dollars per day, over all sessions of the store; 0 means no limit", Project: true,
		field: func(s *Settings) any { return &s.Budgets.Day.Cost },
	},
	{
		Key: "budget.day.time", Env: []string{"IKIGAI_BUDGET_DAY_TIME"}, Default: "0s", Doc: "time from prompts to answers per day, over all sessions of the store; 0s means no limit", Project: true,
		field: func(s *Settings) any { return &s.Budgets.Day.Time },
	},
	{
		Key: "network.connect", Env: []string{"IKIGAI_CONNECT_TIMEOUT"}, Default: "10s", Doc: "until the connection to the provider stands",
		field: func(s *Settings) any { return &s.Network.Connect },
	},
	{
		Key: "network.first_event", Env: []string{"IKIGAI_FIRST_EVENT_TIMEOUT"}, Default: "60s", Doc: "until the first event of a reply",
		field: func(s *Settings) any { return &s.Network.FirstEvent },
	},
	{
		Key: "network.idle", Env: []string{"IKIGAI_IDLE_TIMEOUT"}, Default: "120s", Doc: "between two events of a reply",
		field: func(s *Settings) any { return &s.Network.Idle },
	},
	{
		Key: "network.ca_file", Env: []string{"IKIGAI_CA_FILE"}, Doc: "further certificates to trust, PEM",
		field: func(s *Settings) any { return &s.Network.CAFile },
	},
	{
		Key: "paths.strict", Env: []string{"IKIGAI_PATHS_STRICT"}, Default: "false", Doc: "refuse absolute paths, as Local Harness does", Project: true,
		field: func(s *Settings) any { return &s.Strict },
	},
	{
		Key: "web.provider", Env: []string{"IKIGAI_WEB_PROVIDER", "SWEBASH_AI_WEB_PROVIDER"}, Default: "duckduckgo", Doc: "which engine searches the web",
		Allowed: []string{"duckduckgo", "brave", "google"},
		field:   func(s *Settings) any { return &s.Search },
	},
	{
		Key: "output", Flag: "output", Env: []string{"IKIGAI_OUTPUT"}, Default: "text", Doc: "text: the answer on standard output, progress on standard error; json: one object; stream-json: one object per event",
		Allowed: []string{"text", "json", "stream-json"},
		field:   func(s *Settings) any { return &s.Screen.Output },
	},
	{
		Key: "quiet", Flag: "quiet", Env: []string{"IKIGAI_QUIET"}, Default: "false", Doc: "no progress",
		field: func(s *Settings) any { return &s.Screen.Quiet },
	},
	{
		Key: "verbose", Flag: "verbose", Env: []string{"IKIGAI_VERBOSE"}, Default: "false", Doc: "more about what happens",
		field: func(s *Settings) any { return &s.Screen.Verbose },
	},
	{
		Key: "color", Flag: "color", Env: []string{"IKIGAI_COLOR"}, Default: "auto", Doc: "colours on a terminal",
		Allowed: []string{"auto", "always", "never"},
		field:   func(s *Settings) any { return &s.Screen.Color },
	},
	{
		Key: "display.tool_lines", Env: []string{"IKIGAI_TOOL_LINES"}, Default: "5", Doc: "lines of a tool's output that are shown; 0 shows all",
		field: func(s *Settings) any { return &s.Screen.ToolLines },
	},
}
