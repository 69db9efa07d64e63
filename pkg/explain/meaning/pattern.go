package meaning

import (
	"strings"
	"unicode"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// Words that differ between messages with the same meaning.
var (
	// An amount such as 500m is not a duration: Go's durations end with a unit of seconds.
	duration = lazyregexp.New(`^(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?:s|ms|µs|ns)$`)
	moment   = lazyregexp.New(`^(?:\d{4}-\d\d-\d\d)?T?(?:\d\d:\d\d:\d\d[\d.]*)?(?:Z|[+-]\d\d:?\d\d)?$`)
	uid      = lazyregexp.New(`^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	// A port follows an address, localhost, or the host of a URL. In an image reference, a tag follows the colon.
	port = lazyregexp.New(`(\d\.\d+|\]|localhost|://[^\s/:"]+):\d+`)
	// suffix matches the end of a generated pod name, in the letters of k8s.io/apimachinery/pkg/util/rand; the namespace may
	// follow.
	suffix = lazyregexp.New(`-(?:\d+-)?[bcdfghjklmnpqrstvwxz2456789]{5}(?:_|$)`)
)

// longName is the minimum number of bytes of a Job's name in the names of its pods.
const longName = 40

// Patterns returns a function that removes from a message the words that differ between pods of the Job, between connections,
// and between moments: messages with the same pattern have the same meaning. It only checks words with digits, and names, as
// a huge Job has thousands of events.
func Patterns(job string) func(message string) string {
	name := job[:min(len(job), longName)]
	vary := func(word string) string {
		if rest, found := strings.CutPrefix(word, name); found {
			if at := suffix.FindStringIndex(rest); at != nil && (at[0] == 0 || len(job) > longName) {
				return "*" + rest[at[1]:]
			}
		}
		bare := strings.TrimRight(word, ".:")
		switch {
		case !strings.ContainsAny(word, "0123456789"):
		case duration.MatchString(bare), moment.MatchString(bare), len(bare) == 36 && uid.MatchString(bare):
			return "*"
		case strings.Contains(word, ":"):
			return port.ReplaceAllString(word, "$1*")
		}
		return word
	}
	return func(message string) string {
		words := strings.FieldsFunc(strings.TrimPrefix(message, "(combined from similar events): "), func(r rune) bool {
			return unicode.IsSpace(r) || strings.ContainsRune(`"'(),;<>=`, r)
		})
		for i, word := range words {
			words[i] = vary(word)
		}
		return strings.Join(words, " ")
	}
}

// What is wrong with a server or a right, in the words of any program: messages about images, volumes and networks share them.
const (
	serverAway = `(?i)\bconnection (?:timed out|refused|reset|closed)|\bno route to host|\b(?:network|host) is (?:unreachable|down)|\b(?:i/o|handshake|connect\w*) timeout|connect to \S+ timed out|` +
		`no such host|in name resolution|server misbehaving`
	rightDenied = `(?i)\bdenied\b|\bforbidden\b|\bunauthori[sz]\w*|\bauth\w+tion \w+(?:ed|ure)\b|no basic auth credentials|operation not permitted|\bnot authori[sz]ed\b|(?:^|[\s=:])40[13](?:[\s:,.)]|$)|insufficient_scope`
)
