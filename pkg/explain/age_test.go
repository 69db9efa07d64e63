package explain

import (
	"testing"
	"time"
)

func TestAge_CLI_01(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", -time.Hour: "0s", time.Second: "1s", 59 * time.Second: "59s", 59*time.Second + 600*time.Millisecond: "59s",
		400 * time.Millisecond: "0s", time.Minute: "1m", 70 * time.Second: "1m10s", 10*time.Minute + 10*time.Second: "10m10s",
		20 * time.Minute: "20m", time.Hour: "1h", 90 * time.Minute: "1h30m", 70 * time.Minute: "1h10m", 10*time.Hour + 59*time.Second: "10h",
		24 * time.Hour: "1d", 34 * time.Hour: "1d10h", 240 * time.Hour: "10d", time.Hour + 59*time.Minute + 59*time.Second + 600*time.Millisecond: "1h59m",
	} {
		if got := age(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// CLI-02: lists are cut behind a comma, as kubectl describe cuts them.
func TestCrop_CLI_02(t *testing.T) {
	for _, tc := range []struct {
		list  string
		limit int
		want  string
	}{
		{"1-3,5", 50, "1-3,5"},
		{"", 0, ""},
		{"1-25,28,30-32,40", 14, "1-25,28,30-32,40"},
		{"1-25,28,30-32,40", 13, "1-25,28,30-32,…"},
		{"1-25,28,30-32,40", 5, "1-25,28,…"},
		{"1-25,28,30-32,40", 0, "1-25,…"},
		{"1000000-2000000", 3, "1000000-2000000"},
	} {
		if got := Crop(tc.list, tc.limit); got != tc.want {
			t.Errorf("%q at %d: %q, want %q", tc.list, tc.limit, got, tc.want)
		}
	}
}
