package eventtext

import (
	"regexp"
	"strings"
)

// What differs between messages that report the same.
const (
	// An amount such as 500m is no duration: Go ends those with a unit of seconds.
	duration = `\b(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?:s|ms|µs|ns)\b`
	moment   = `\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.]*(?:Z|[+-]\d\d:?\d\d)?`
	uid      = `\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`
	// A port stands behind an address, localhost, or the host of a URL; an image has a tag there.
	port = `(\b\d{1,3}(?:\.\d{1,3}){3}|\]|\blocalhost|://[^\s/:"]+):\d+`
	// suffix ends the generated names of pods, in the letters of k8s.io/apimachinery/pkg/util/rand.
	suffix = `-(?:\d+-)?[bcdfghjklmnpqrstvwxz2456789]{5}(?:\b|_)`
	// longName is how much of a Job's name its pods have at least.
	longName = 40
)

// Patterns returns a function that leaves out of a message what differs between pods of the Job, between
// connections, and between moments: messages with the same pattern report the same.
func Patterns(job string) func(message string) string {
	name := regexp.QuoteMeta(job)
	if len(job) > longName {
		name = regexp.QuoteMeta(job[:longName]) + `[-.a-z0-9]*?`
	}
	varies := regexp.MustCompile(`\b` + name + suffix + `|` + uid + `|` + moment + `|` + port + `|` + duration)
	return func(message string) string {
		return varies.ReplaceAllString(strings.TrimPrefix(message, "(combined from similar events): "), "$1*")
	}
}
