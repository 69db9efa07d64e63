package typo

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"same", "same", 0}, {"backofLimit", "backoffLimit", 1},
		{"contoller", "controller", 1}, {"abcd", "acbd", 1}, {"iamge", "image", 1}, {"ca", "abc", 3}, {"kitten", "sitting", 3},
	} {
		assert.Equalf(t, Distance(c.a, c.b), c.want, "%q, %q", c.a, c.b)
		assert.Equalf(t, Distance(c.b, c.a), c.want, "%q, %q", c.b, c.a)
	}
}
