// Package lazyregexp provides regular expressions that are compiled on first use. A program with hundreds of them in
// package variables starts in half the time, as most runs use only a few.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression. It is safe for concurrent use.
type Regexp struct {
	pattern  string
	once     sync.Once
	compiled *regexp.Regexp
}

// inTest makes New compile at once, so that any test of a package finds its invalid patterns.
var inTest = len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")

// New returns a Regexp for the pattern. Its first use panics if the pattern is invalid; in a test, New panics.
func New(pattern string) *Regexp {
	r := &Regexp{pattern: pattern}
	if inTest {
		r.compile()
	}
	return r
}

func (r *Regexp) compile() *regexp.Regexp {
	r.once.Do(func() { r.compiled = regexp.MustCompile(r.pattern) })
	return r.compiled
}

// String returns the pattern.
func (r *Regexp) String() string { return r.pattern }

// MatchString is like regexp.Regexp.MatchString, and so are the following methods.
func (r *Regexp) MatchString(s string) bool { return r.compile().MatchString(s) }

// FindString returns the leftmost match, or "".
func (r *Regexp) FindString(s string) string { return r.compile().FindString(s) }

// FindStringIndex returns the begin and the end of the leftmost match, or nil.
func (r *Regexp) FindStringIndex(s string) []int { return r.compile().FindStringIndex(s) }

// FindStringSubmatch returns the leftmost match and its submatches, or nil.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compile().FindStringSubmatch(s) }

// Group returns the first group of the leftmost match that is not empty, "" if there is none.
func (r *Regexp) Group(s string) string {
	for i, group := range r.FindStringSubmatch(s) {
		if i > 0 && group != "" {
			return group
		}
	}
	return ""
}

// FindStringSubmatchIndex returns the begins and ends of the leftmost match and its submatches, or nil.
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compile().FindStringSubmatchIndex(s)
}

// FindAllStringIndex returns the begins and ends of the first n matches; of all matches if n is negative.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compile().FindAllStringIndex(s, n)
}

// FindAllStringSubmatchIndex returns the begins and ends of the first n matches and their submatches.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compile().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString returns s with all matches replaced; $1 in replacement is the first submatch.
func (r *Regexp) ReplaceAllString(s, replacement string) string {
	return r.compile().ReplaceAllString(s, replacement)
}

// SubexpNames returns the names of the groups; the first, for the whole match, is "".
func (r *Regexp) SubexpNames() []string { return r.compile().SubexpNames() }

// FindAllStringSubmatch returns at most n matches, or all for -1.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compile().FindAllStringSubmatch(s, n)
}

// ReplaceAllStringFunc returns s with each match replaced by its value of the function.
func (r *Regexp) ReplaceAllStringFunc(s string, replace func(string) string) string {
	return r.compile().ReplaceAllStringFunc(s, replace)
}
