package retry

import (
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: RTY-41
func TestNextMemoryLimit(t *testing.T) {
	for _, c := range []struct{ by, old, first, want string }{
		{"x2", "1Gi", "1Gi", "2Gi"},
		{"x2", "128Mi", "128Mi", "256Mi"},
		{"x1.5", "1Gi", "1Gi", "1536Mi"},
		{"x1.1", "333Mi", "333Mi", "367Mi"}, // whole mebibytes
		{"x2", "2G", "2G", "4G"},
		{"x1.5", "1G", "1G", "1500M"},
		{"x2", "500000", "500000", "1M"},
		{"+4Gi", "4Gi", "4Gi", "8Gi"},
		{"+512Mi", "1Gi", "1Gi", "1536Mi"},
		{"+1Gi", "1G", "1G", "2074M"},
		{"x2,max=3Gi", "2Gi", "1Gi", "3Gi"},
		{"x2,max=3G", "2Gi", "1Gi", "3G"},
		{"x2,max=2Gi", "2Gi", "1Gi", "at the cap 2Gi"},
		{"x2,max=1Gi", "2Gi", "1Gi", "at the cap 1Gi"},
		{"x2", "4Gi", "1Gi", "8Gi"},
		{"x4", "4Gi", "1Gi", "8Gi"}, // 8 times the first
		{"x2", "8Gi", "1Gi", "at the cap 8Gi"},
		{"x999999999", "7Ei", "7Ei", "9223372036854775807"},
	} {
		by, err := ParseMemoryRaise(c.by)
		if err != nil {
			t.Errorf("%s: %v", c.by, err)
			continue
		}
		first := resource.MustParse(c.first)
		next, raised := by.Next(resource.MustParse(c.old), first)
		got := next.String()
		if most := by.CapOf(first); !raised {
			got = "at the cap " + most.String()
		}
		assert.Equalf(t, got, c.want, "%s of %s, first %s", c.by, c.old, c.first)
	}
}

// Requirements: RTY-41
func TestWrongMemoryRaise(t *testing.T) {
	for _, text := range []string{
		"", "2", "x", "x1", "x0.5", "x-2", "x2x", "2x", "+", "+0", "+-1Gi", "+lots", "-1Gi", "x2,", "x2,32Gi", "x2,max=", "x2,max=0", "x2,max=lots",
		"max=1Gi", "x1e9", "x2/1", "x99999999999",
	} {
		if r, err := ParseMemoryRaise(text); err == nil {
			t.Errorf("%q: %v", text, r)
		}
	}
}

// Requirements: RTY-41
func TestRequestKeepsItsRatio(t *testing.T) {
	for _, c := range []struct{ request, limit, next, want string }{
		{"512Mi", "1Gi", "2Gi", "1Gi"},
		{"1Gi", "1Gi", "2Gi", "2Gi"},
		{"1024Mi", "1Gi", "3Gi", "3Gi"},
		{"100M", "1Gi", "3Gi", "300M"},
		{"1Gi", "3Gi", "4Gi", "1366Mi"},
		{"0", "1Gi", "4Gi", "0"},
	} {
		got := requestFor(resource.MustParse(c.request), resource.MustParse(c.limit), resource.MustParse(c.next))
		assert.Equalf(t, got.String(), c.want, "%s of %s, for %s", c.request, c.limit, c.next)
	}
}

// However a limit is raised, it is above the old one and not above the cap, its request is not above it and not below the
// old request, and quantities keep their units.
// Requirements: RTY-41
func TestAnyMemoryRaise(t *testing.T) {
	random := rand.New(rand.NewPCG(62, 3))
	suffixes := []string{"", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"}
	quantity := func() resource.Quantity {
		return resource.MustParse(string('1'+rune(random.IntN(9))) + strings.Repeat("7", random.IntN(3)) + suffixes[random.IntN(len(suffixes))])
	}
	for range 20_000 {
		amount := quantity()
		text := []string{"x2", "x1.0000001", "x1.37", "x10", "+" + amount.String()}[random.IntN(5)]
		if most := quantity(); random.IntN(2) == 0 {
			text += ",max=" + most.String()
		}
		by, err := ParseMemoryRaise(text)
		assert.NoError(t, err, text)
		first, old, request := quantity(), quantity(), quantity()
		most := by.CapOf(first)
		next, raised := by.Next(old, first)
		if raised != (old.Cmp(most) < 0) || raised && (next.Cmp(old) <= 0 || next.Cmp(most) > 0) || !raised && next.Cmp(old) != 0 {
			t.Fatalf("%s of %s, cap %s: %s, %v", text, old.String(), most.String(), next.String(), raised)
		}
		if raised && next.Cmp(most) != 0 && next.Format != old.Format {
			t.Fatalf("%s of %s: %s", text, old.String(), next.String())
		}
		if request.Cmp(old) > 0 || !raised {
			continue
		}
		got := requestFor(request, old, next)
		if got.Cmp(next) > 0 || got.Cmp(request) < 0 {
			t.Fatalf("%s of %s to %s of %s", request.String(), old.String(), got.String(), next.String())
		}
		if got.Cmp(next) != 0 && got.Format != request.Format {
			t.Fatalf("request %s became %s", request.String(), got.String())
		}
	}
}
