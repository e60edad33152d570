package toolkit

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"ikigai/internal/tool"
)

// Strict is t for paths below the working folder only: absolute ones and those
// that climb up are refused before anything is looked at. The session's own
// folder, where long outputs lie, is the one exception.
func Strict(t tool.Tool) tool.Tool { return strict{t} }

type strict struct{ tool.Tool }

func (s strict) Leads(raw json.RawMessage) tool.Tool {
	return Alias{Tool: s.Tool}.Leads(raw)
}

func (s strict) Prepare(ctx context.Context, at tool.Place, raw json.RawMessage) (tool.Prepared, error) {
	spec := s.Spec()
	args, err := Read(spec, raw)
	if err != nil {
		return tool.Prepared{}, err
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(args.Value, &given); err != nil {
		return tool.Prepared{}, tool.Errorf(tool.InvalidParams, "reading the arguments of %s: %w", spec.Name, err)
	}
	for _, p := range spec.Parameters.Properties() {
		var name string
		if p.Format != "path" || json.Unmarshal(given[p.Name], &name) != nil {
			continue
		}
		if climbs(name) || absolute(name) && !spilled(at, name) {
			return tool.Prepared{}, tool.Errorf(tool.InvalidPath, "%s must be below the working folder: %s is absolute or leads upwards", p.Name, name)
		}
	}
	return s.Tool.Prepare(ctx, at, raw)
}

func absolute(name string) bool { return filepath.IsAbs(name) || strings.HasPrefix(name, "/") }

func spilled(at tool.Place, name string) bool {
	return at.Dir != "" && strings.HasPrefix(name, filepath.Clean(at.Dir)+string(filepath.Separator))
}

func climbs(name string) bool {
	return slices.Contains(strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == filepath.Separator }), "..")
}
