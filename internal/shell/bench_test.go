package shell

import "testing"

func BenchmarkClassify(b *testing.B) {
	for name, line := range map[string]string{
		"short":    "git status",
		"typical":  `go test -run 'TestX' -count=1 ./... 2>&1 | tail -n 20`,
		"compound": `cd src && for f in *.go; do grep -n "TODO" "$f"; done | sort -t: -k2n > out.txt`,
		"wrapped":  `timeout 5 env FOO=1 sh -c 'find . -name "*.tmp" -exec rm {} +'`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Classify(line, workspace())
			}
		})
	}
}
