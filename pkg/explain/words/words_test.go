package words

import (
	"testing"
	"time"
)

func TestAgeHasTwoUnitsAtMost_CLI_01(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", -time.Hour: "0s", time.Second: "1s", 59 * time.Second: "59s", 59*time.Second + 600*time.Millisecond: "59s",
		400 * time.Millisecond: "0s", time.Minute: "1m", 70 * time.Second: "1m10s", 10*time.Minute + 10*time.Second: "10m10s",
		20 * time.Minute: "20m", time.Hour: "1h", 90 * time.Minute: "1h30m", 70 * time.Minute: "1h10m", 10*time.Hour + 59*time.Second: "10h",
		24 * time.Hour: "1d", 34 * time.Hour: "1d10h", 240 * time.Hour: "10d", time.Hour + 59*time.Minute + 59*time.Second + 600*time.Millisecond: "1h59m",
	} {
		if got := Age(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
