// Package bench is the one form in which benchmarks tell what they measured:
// ours beside a rival, in the same minute. Tests write rows, make bench makes one
// table of them.
package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// DirVariable names the folder for rows. Where it is not set nothing is measured.
const DirVariable = "IKIGAI_BENCH_JSON_DIR"

// A Row is one workload. Numbers that were not measured are zero.
type Row struct {
	Workload  string  `json:"workload"`
	OursCPU   float64 `json:"ours_cpu_ms,omitempty"`
	Rival     string  `json:"rival,omitempty"` // or why there is none
	RivalCPU  float64 `json:"rival_cpu_ms,omitempty"`
	Ratio     float64 `json:"ratio,omitempty"` // ours to the rival's, of what Goal speaks of
	OursWall  float64 `json:"ours_wall_ms,omitempty"`
	RivalWall float64 `json:"rival_wall_ms,omitempty"`
	Goal      string  `json:"goal,omitempty"`
	Note      string  `json:"note,omitempty"`
}

// Write keeps the rows of one benchmark.
func Write(dir, name string, rows []Row) error {
	raw, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".json"), raw, 0o644)
}

// Read gives all rows of a folder, by the names of their benchmarks.
func Read(dir string) ([]Row, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json")) // sorted
	if err != nil {
		return nil, err
	}
	var all []Row
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var rows []Row
		if err := json.Unmarshal(raw, &rows); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, rows...)
	}
	return all, nil
}
