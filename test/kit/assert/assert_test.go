package assert

import (
	"errors"
	"fmt"
	"testing"
)

// recorder records failures instead of failing.
type recorder struct {
	testing.TB
	failure string
}

func (r *recorder) Helper()                           {}
func (r *recorder) Fatal(args ...any)                 { r.failure = "ended: " + fmt.Sprint(args...) }
func (r *recorder) Errorf(format string, args ...any) { r.failure = fmt.Sprintf(format, args...) }

// Each comparison fails for different values only, and shows them.
func TestDifferencesFail(t *testing.T) {
	for want, compare := range map[string]func(t testing.TB, same bool){
		"ended: reading: lost":   func(t testing.TB, same bool) { NoError(t, map[bool]error{false: errors.New("lost")}[same], "reading") },
		"pods: \ngot  1\nwant 2": func(t testing.TB, same bool) { Equal(t, 1, map[bool]int{true: 1, false: 2}[same], "pods") },
		"pod 7: \ngot  \"a\"\nwant \"b\"": func(t testing.TB, same bool) {
			Equalf(t, "a", map[bool]string{true: "a", false: "b"}[same], "pod %d", 7)
		},
		"\ngot  []\nwant [1]": func(t testing.TB, same bool) { SlicesEqual(t, []int{}, map[bool][]int{false: {1}}[same]) },
		"\ngot  map[]\nwant map[1:2]": func(t testing.TB, same bool) {
			DeepEqual(t, map[int]int{}, map[bool]any{true: map[int]int{}, false: map[int]int{1: 2}}[same])
		},
		"a: b: got  text\nwithout \"no\"": func(t testing.TB, same bool) {
			Contains(t, "text", map[bool]string{true: "ex", false: "no"}[same], "a", "b")
		},
		"got  text\nwith \"ex\"": func(t testing.TB, same bool) { NotContains(t, "text", map[bool]string{true: "no", false: "ex"}[same]) },
	} {
		for _, same := range []bool{true, false} {
			r := &recorder{}
			compare(r, same)
			if failed := r.failure == want; failed == same || same && r.failure != "" {
				t.Errorf("same %t: %q, want %q", same, r.failure, want)
			}
		}
	}
}
