package secret

import (
	"strings"
	"unicode"
)

// LooksSecret reports whether a variable of that name usually holds a secret,
// such as OPENAI_API_KEY or PGPASSWORD. It is also for the environments of
// child processes, which get nothing that looks so.
func LooksSecret(name string) bool {
	words := wordsOf(name)
	if len(words) == 0 || places[words[len(words)-1]] {
		return false
	}
	if len(words) == 1 && (words[0] == "PWD" || words[0] == "OLDPWD") { // the working folder
		return false
	}
	for _, w := range words {
		if secretWords[w] {
			return true
		}
		for _, part := range secretParts {
			if strings.Contains(w, part) && !strings.Contains(w, "TOKENIZER") {
				return true
			}
		}
	}
	return false
}

// secretWords are words that make a name look secret.
var secretWords = map[string]bool{
	"KEY": true, "KEYS": true, "PASS": true, "PWD": true, "AUTH": true, "OAUTH": true, "OAUTH2": true, "AUTHORIZATION": true,
	"CRED": true, "CREDS": true, "PAT": true, "JWT": true, "BEARER": true, "COOKIE": true, "COOKIES": true,
}

// secretParts do so inside a longer word too, as in PGPASSWORD.
var secretParts = []string{
	"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "ACCESSKEY", "PRIVATEKEY", "AUTHKEY",
}

// places are last words of names that say where something is, not what.
var places = map[string]bool{
	"SOCK": true, "SOCKET": true, "FILE": true, "PATH": true, "DIR": true, "HOME": true, "HOST": true, "PORT": true,
}

// wordsOf cuts a name at signs and where small letters meet capitals, and
// gives its words in capitals.
func wordsOf(name string) []string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	return strings.FieldsFunc(strings.ToUpper(b.String()), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// looksHarmless: a value that is plainly a path or a web address without
// anything private in it. A base64 value may well begin with a slash, so a path
// is believed only when its first part reads like the name of a folder.
func looksHarmless(value string) bool {
	switch {
	case strings.HasPrefix(value, "http://"), strings.HasPrefix(value, "https://"):
		return !strings.ContainsAny(value, "@?")
	case strings.HasPrefix(value, "~/"), strings.HasPrefix(value, "./"), strings.HasPrefix(value, "../"):
		return true
	case len(value) > 2 && value[1] == ':' && (value[2] == '\\' || value[2] == '/'):
		return unicode.IsLetter(rune(value[0]))
	case strings.HasPrefix(value, "/"):
		folder, _, more := strings.Cut(value[1:], "/")
		return more && isFolder(folder)
	}
	return false
}

// isFolder: a short word, small but perhaps for its first letter.
func isFolder(s string) bool {
	for i, r := range s {
		if !unicode.IsLower(r) && (i > 0 || !unicode.IsUpper(r)) {
			return false
		}
	}
	return s != "" && len(s) <= minLength
}
