package eventtext

import (
	"strings"
	"unicode"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// What differs between messages that report the same, in a word.
var (
	// An amount such as 500m is no duration: Go ends those with a unit of seconds.
	duration = lazyregexp.New(`^(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?:s|ms|µs|ns)$`)
	moment   = lazyregexp.New(`^(?:\d{4}-\d\d-\d\d)?T?(?:\d\d:\d\d:\d\d[\d.]*)?(?:Z|[+-]\d\d:?\d\d)?$`)
	uid      = lazyregexp.New(`^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	// A port stands behind an address, localhost, or the host of a URL; an image has a tag there.
	port = lazyregexp.New(`(\d\.\d+|\]|localhost|://[^\s/:"]+):\d+`)
	// suffix ends the generated name of a pod, in the letters of k8s.io/apimachinery/pkg/util/rand; its namespace may follow.
	suffix = lazyregexp.New(`-(?:\d+-)?[bcdfghjklmnpqrstvwxz2456789]{5}(?:_|$)`)
)

// longName is how much of a Job's name its pods have at least.
const longName = 40

// Patterns returns a function that leaves out of a message what differs between pods of the Job, between
// connections, and between moments: messages with the same pattern report the same. It looks at words with digits and
// names only, as a huge Job has thousands of events.
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
