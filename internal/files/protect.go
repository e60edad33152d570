package files

import (
	"strings"
	"unicode"
)

// guarded are the names that no file tool writes, at any depth, present or not.
// All of .git, not only hooks and config: a rebase list, a commondir or a .git
// file run or redirect just as well, and git itself is there to change the rest.
var guarded = []string{".git", ".ikigai"}

// isProtected reports whether the real path may not be written; parts are its
// components below the root that holds it.
func (r *Roots) isProtected(real string, parts []string) bool {
	for _, p := range parts {
		if guardedName(p) {
			return true
		}
	}
	folded := fold(real)
	for _, p := range r.protect {
		if _, ok := below(fold(p), folded); ok {
			return true
		}
	}
	return false
}

// guardedName compares as the most forgiving file system would: letters of any
// case are one (APFS, NTFS, FAT, ext4 folders with casefold), some ignore
// invisible characters (HFS+), trailing dots and blanks or a stream name after
// a colon, and have short names (NTFS). Which of these a folder does cannot be
// asked of it, and nobody misses the names refused in vain.
func guardedName(name string) bool {
	plain := fold(strings.Map(func(c rune) rune {
		if unicode.Is(unicode.Cf, c) {
			return -1
		}
		return c
	}, name))
	plain, _, _ = strings.Cut(plain, ":")
	plain = strings.TrimRight(plain, " .")
	for _, g := range guarded {
		if plain == g || plain == shortName(g) {
			return true
		}
	}
	return false
}

// shortName is the 8.3 name that Windows gives first to a name with a leading dot.
func shortName(name string) string {
	name = strings.TrimPrefix(name, ".")
	return name[:min(6, len(name))] + "~1"
}

// fold makes names equal that differ in case only. Upper before lower also
// brings together the few letters with three forms, such as the long s.
func fold(s string) string { return strings.ToLower(strings.ToUpper(s)) }

func afterPrefix(text, prefix string) (string, bool) {
	rest, ok := strings.CutPrefix(text, prefix)
	rest = strings.TrimRight(rest, "\r\n")
	return rest, ok && rest != ""
}
