package schema

import (
	"strings"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	_, tools := calls(b)
	rows := []struct{ name, tool, raw string }{
		{"typical", "read_file", `{"path":"internal/schema/read.go","offset":10,"limit":200}`},
		{"repaired", "read_file", "```json\n{'path':'internal/schema/read.go','offset':'10',}\n```"},
		{"refused", "read_file", `{"file_path":"internal/schema/read.go","offset":"ten"}`},
		{"write 100 kB", "write_file", `{"path":"a.go","content":"` + strings.Repeat(`\tline of code\n`, 6500) + `"}`},
	}
	for _, row := range rows {
		b.Run(row.name, func(b *testing.B) {
			raw := []byte(row.raw)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = tools[row.tool].Read(raw, DropUnknown)
			}
		})
	}
}

func BenchmarkOf(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Of[everything]().JSON()
	}
}
