package conformance

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"google.golang.org/genai"

	"ikigai/internal/dialect"
	"ikigai/internal/llm"
)

// The clients' types take any word where the vendor has a list of them, so that
// a wrong one would pass. These are the words of that list.
func TestChoicesAreSaidInTheVendorsWords(t *testing.T) {
	adaptive := dialect.Quirks{AdaptiveThinking: true}
	for _, c := range []struct {
		format string
		quirks dialect.Quirks
		effort llm.Effort
		choice llm.Choice
		at     string // the place in the body
		want   string
	}{
		{"openai", dialect.Quirks{}, llm.LowEffort, llm.Auto, "reasoning_effort", string(shared.ReasoningEffortLow)},
		{"openai", dialect.Quirks{}, llm.MediumEffort, llm.Auto, "reasoning_effort", string(shared.ReasoningEffortMedium)},
		{"openai", dialect.Quirks{}, llm.HighEffort, llm.Auto, "reasoning_effort", string(shared.ReasoningEffortHigh)},
		{"openai", dialect.Quirks{}, "", llm.Auto, "tool_choice", string(openai.ChatCompletionToolChoiceOptionAutoAuto)},
		{"openai", dialect.Quirks{}, "", llm.NoTools, "tool_choice", string(openai.ChatCompletionToolChoiceOptionAutoNone)},
		{"responses", dialect.Quirks{}, llm.LowEffort, llm.Auto, "reasoning.effort", string(shared.ReasoningEffortLow)},
		{"responses", dialect.Quirks{}, llm.HighEffort, llm.Auto, "reasoning.effort", string(shared.ReasoningEffortHigh)},
		{"responses", dialect.Quirks{}, llm.HighEffort, llm.Auto, "reasoning.summary", string(shared.ReasoningSummaryAuto)},
		{"responses", dialect.Quirks{}, "", llm.Auto, "tool_choice", string(responses.ToolChoiceOptionsAuto)},
		{"responses", dialect.Quirks{}, "", llm.NoTools, "tool_choice", string(responses.ToolChoiceOptionsNone)},
		{"responses", dialect.Quirks{}, "", llm.Auto, "include.0", string(responses.ResponseIncludableReasoningEncryptedContent)},
		{"anthropic", adaptive, llm.LowEffort, llm.Auto, "output_config.effort", string(anthropic.OutputConfigEffortLow)},
		{"anthropic", adaptive, llm.MediumEffort, llm.Auto, "output_config.effort", string(anthropic.OutputConfigEffortMedium)},
		{"anthropic", adaptive, llm.HighEffort, llm.Auto, "output_config.effort", string(anthropic.OutputConfigEffortHigh)},
		{"gemini", dialect.Quirks{}, llm.LowEffort, llm.Auto, "generationConfig.thinkingConfig.thinkingLevel", string(genai.ThinkingLevelLow)},
		{"gemini", dialect.Quirks{}, llm.HighEffort, llm.Auto, "generationConfig.thinkingConfig.thinkingLevel", string(genai.ThinkingLevelHigh)},
		{"gemini", dialect.Quirks{}, "", llm.Auto, "toolConfig.functionCallingConfig.mode", string(genai.FunctionCallingConfigModeAuto)},
		{"gemini", dialect.Quirks{}, "", llm.NoTools, "toolConfig.functionCallingConfig.mode", string(genai.FunctionCallingConfigModeNone)},
		{"gemini", dialect.Quirks{}, "", llm.Auto, "contents.0.role", genai.RoleUser},
		{"gemini", dialect.Quirks{}, "", llm.Auto, "contents.1.role", genai.RoleModel},
		{"gemini", dialect.Quirks{}, "", llm.Auto, "tools.0.functionDeclarations.0.parameters.type", string(genai.TypeObject)},
		{"gemini", dialect.Quirks{}, "", llm.Auto, "tools.0.functionDeclarations.0.parameters.properties.kinds.type", string(genai.TypeArray)},
	} {
		q := question{c.at, c.quirks, llm.Request{Model: signed, Events: story(c.format, keeps[c.format]), Tools: toolbox(t), Effort: c.effort, Choice: c.choice}}
		if got := lookUp(t, encode(t, peerOf(t, c.format), q), c.at); got != c.want {
			t.Errorf("%s: %s is %v, and %q in the vendor's words", c.format, c.at, got, c.want)
		}
	}
}

// lookUp finds a value by the names and numbers on the way to it.
func lookUp(t *testing.T, body []byte, path string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	for step := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			v = x[step[0]-'0']
		}
	}
	return v
}
