package lazyregexp

import (
	"regexp"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func TestMethodsAreThoseOfRegexp(t *testing.T) {
	const pattern, text = `(?P<name>[a-z]+)=(\d)`, "a=1 b=2"
	lazy, want := New(pattern), regexp.MustCompile(pattern)
	for name, pair := range map[string][2]any{
		"String":                     {lazy.String(), want.String()},
		"MatchString":                {lazy.MatchString(text), want.MatchString(text)},
		"FindString":                 {lazy.FindString(text), want.FindString(text)},
		"FindStringIndex":            {lazy.FindStringIndex(text), want.FindStringIndex(text)},
		"FindStringSubmatch":         {lazy.FindStringSubmatch(text), want.FindStringSubmatch(text)},
		"FindStringSubmatchIndex":    {lazy.FindStringSubmatchIndex(text), want.FindStringSubmatchIndex(text)},
		"FindAllStringIndex":         {lazy.FindAllStringIndex(text, -1), want.FindAllStringIndex(text, -1)},
		"FindAllStringSubmatchIndex": {lazy.FindAllStringSubmatchIndex(text, 1), want.FindAllStringSubmatchIndex(text, 1)},
		"ReplaceAllString":           {lazy.ReplaceAllString(text, "$2"), want.ReplaceAllString(text, "$2")},
		"SubexpNames":                {lazy.SubexpNames(), want.SubexpNames()},
	} {
		assert.DeepEqual(t, pair[0], pair[1], name)
	}
}

func TestInvalidPatternPanicsInTestsAtOnce(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an invalid pattern does not panic")
		}
	}()
	New("(")
}

func TestGroupIsTheFirstThatIsNotEmpty(t *testing.T) {
	r := New(`^a(\d)?|^b(\w)|^c`)
	for text, want := range map[string]string{"a1": "1", "a": "", "bx": "x", "c": "", "other": ""} {
		assert.Equal(t, r.Group(text), want, text)
	}
}
