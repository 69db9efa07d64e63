package explain

import "strings"

// ShellWord quotes a word unless it is plain, so that a command can be copied as it is.
func ShellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._/:=@", r)
	}
	if strings.HasPrefix(word, "-") {
		return "NAME" // An owner may be called --server=…, which kubectl would obey.
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
