package conformance

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"google.golang.org/genai"
)

func geminiPeer() peer {
	return peer{
		format: "gemini",
		under:  "/v1beta",
		ask:    askGemini,
		plain:  plainBase64,
		again: map[string]string{
			`- [].parts[].text ""`:              "a part may be a signature alone; the client leaves the empty text out",
			"- [].parts[].functionCall.args {}": "no arguments are no field",
		},
		known: map[string]string{
			"+ .generationConfig {}":                     "the client always has the object",
			"+ .systemInstruction.role":                  "the client names a role that the server does not look at",
			"- .contents[].parts[].functionCall.args {}": "no arguments are no field",
		},
	}
}

// geminiBody is a request as it stands on the wire. The client has no type for
// it as a whole: it takes the same parts, and those of generationConfig apart.
type geminiBody struct {
	Contents          []*genai.Content       `json:"contents"`
	SystemInstruction *genai.Content         `json:"systemInstruction"`
	Tools             []*genai.Tool          `json:"tools"`
	ToolConfig        *genai.ToolConfig      `json:"toolConfig"`
	GenerationConfig  genai.GenerationConfig `json:"generationConfig"`
}

func askGemini(ctx context.Context, url, model string, body []byte, whole bool) (reply, error) {
	var b geminiBody
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		return reply{}, fmt.Errorf("%w: %w", errRequest, err)
	}
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: key, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url},
	})
	if err != nil {
		return reply{}, fmt.Errorf("%w: %w", errRequest, err)
	}
	config := &genai.GenerateContentConfig{
		SystemInstruction: b.SystemInstruction, Tools: b.Tools, ToolConfig: b.ToolConfig,
		MaxOutputTokens: b.GenerationConfig.MaxOutputTokens, ThinkingConfig: b.GenerationConfig.ThinkingConfig,
	}
	if !whole {
		return hearGemini(client.Models.GenerateContentStream(ctx, model, b.Contents, config))
	}
	return hearGemini(func(yield func(*genai.GenerateContentResponse, error) bool) {
		yield(client.Models.GenerateContent(ctx, model, b.Contents, config))
	})
}

func hearGemini(pieces iter.Seq2[*genai.GenerateContentResponse, error]) (reply, error) {
	var r reply
	said := genai.Content{Role: genai.RoleModel}
	for piece, err := range pieces {
		if err != nil {
			return r, err
		}
		said.Parts = append(said.Parts, r.hearPiece(piece)...)
	}
	said.Parts = joined(said.Parts)
	r.Again = again(said)
	return r, nil
}

// joined joins neighbouring pieces of one text, which the client would send back
// in as many messages as they came in. It leaves out what need not go back:
// thoughts that nothing proves, and parts without anything in them.
func joined(parts []*genai.Part) []*genai.Part {
	var out []*genai.Part
	for _, p := range parts {
		n := len(out)
		switch {
		case isPlain(p) && (p.Thought || p.Text == ""):
		case isPlain(p) && n > 0 && isPlain(out[n-1]):
			out[n-1] = &genai.Part{Text: out[n-1].Text + p.Text}
		default:
			out = append(out, p)
		}
	}
	return out
}

// isPlain holds for a part that is text and no more.
func isPlain(p *genai.Part) bool { return p.FunctionCall == nil && p.ThoughtSignature == nil }

// standIn is what is sent for the signature of a call that another model made.
// It is documented as text, not as the base64 that signatures are: read as such
// it is of the alphabet for addresses, which the server takes and Go's reader of
// JSON does not.
const standIn = "skip_thought_signature_validator"

func plainBase64(body []byte) []byte {
	return bytes.ReplaceAll(body, []byte(standIn), []byte(strings.ReplaceAll(standIn, "_", "/")))
}

// hearPiece adds one piece of a stream, and gives its parts.
func (r *reply) hearPiece(g *genai.GenerateContentResponse) []*genai.Part {
	if u := g.UsageMetadata; u != nil {
		r.Usage = usage{
			Input: int64(u.PromptTokenCount), Output: int64(u.CandidatesTokenCount + u.ThoughtsTokenCount),
			CacheRead: int64(u.CachedContentTokenCount), Reasoning: int64(u.ThoughtsTokenCount),
		}
	}
	var parts []*genai.Part
	for _, c := range g.Candidates {
		if c.FinishReason != "" {
			r.Finish = string(c.FinishReason)
		}
		if c.Content == nil {
			continue
		}
		for _, p := range c.Content.Parts {
			r.hearPart(p)
		}
		parts = append(parts, c.Content.Parts...)
	}
	return parts
}

func (r *reply) hearPart(p *genai.Part) {
	r.proof(base64.StdEncoding.EncodeToString(p.ThoughtSignature))
	switch {
	case p.FunctionCall != nil:
		var args any = p.FunctionCall.Args
		if p.FunctionCall.Args == nil {
			args = map[string]any{}
		}
		r.Calls = append(r.Calls, called{p.FunctionCall.ID, p.FunctionCall.Name, args})
	case p.Thought:
		r.Thinking += p.Text
	default:
		r.Text += p.Text
	}
}
