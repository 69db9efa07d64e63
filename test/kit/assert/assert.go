// Package assert compares values in tests. Comparisons that fail let the test continue; an unexpected error ends it. What a
// failure is about comes last: values that are printed before those that were compared.
package assert

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// NoError ends the test after an error.
func NoError(t testing.TB, err error, about ...any) {
	if err != nil {
		t.Helper()
		t.Fatal(subject(about) + err.Error())
	}
}

// Equal compares two values.
func Equal[T comparable](t testing.TB, got, want T, about ...any) {
	if got != want {
		t.Helper()
		different(t, got, want, subject(about))
	}
}

// Equalf compares two values. The subject is formatted.
func Equalf[T comparable](t testing.TB, got, want T, format string, args ...any) {
	if got != want {
		t.Helper()
		different(t, got, want, fmt.Sprintf(format, args...)+": ")
	}
}

// SlicesEqual compares the elements of slices: an empty one equals nil.
func SlicesEqual[E comparable](t testing.TB, got, want []E, about ...any) {
	if !slices.Equal(got, want) {
		t.Helper()
		different(t, got, want, subject(about))
	}
}

// DeepEqual compares values with all that they point to.
func DeepEqual(t testing.TB, got, want any, about ...any) {
	if !reflect.DeepEqual(got, want) {
		t.Helper()
		different(t, got, want, subject(about))
	}
}

// Contains looks for a part of a text.
func Contains(t testing.TB, text, part string, about ...any) {
	if !strings.Contains(text, part) {
		t.Helper()
		t.Errorf("%sgot  %s\nwithout %q", subject(about), text, part)
	}
}

// NotContains looks for a part that a text must not have.
func NotContains(t testing.TB, text, part string, about ...any) {
	if strings.Contains(text, part) {
		t.Helper()
		t.Errorf("%sgot  %s\nwith %q", subject(about), text, part)
	}
}

// different reports two values, a text of one line in quotes.
func different(t testing.TB, got, want any, subject string) {
	t.Helper()
	if text, is := got.(string); is && !strings.Contains(text+fmt.Sprint(want), "\n") {
		t.Errorf("%s\ngot  %q\nwant %q", subject, got, want)
		return
	}
	t.Errorf("%s\ngot  %+v\nwant %+v", subject, got, want)
}

// subject returns what a failure is about, with a colon.
func subject(about []any) string {
	var text strings.Builder
	for _, value := range about {
		fmt.Fprintf(&text, "%+v: ", value)
	}
	return text.String()
}
