package meaning

import "testing"

// The catalog has the messages about images and their meanings.
//
// Requirements: PND-03
func TestReasonAloneIsAMeaning(t *testing.T) {
	for _, c := range []struct {
		reason, message string
		want            TroubleKind
	}{
		{"RegistryUnavailable", "", Unreachable},
		{"ErrImagePull", "rpc error: code = Canceled desc = stopped", Image},
	} {
		if got := troubleOf(OfImage(c.reason, c.message)); got.Kind != c.want {
			t.Errorf("%s: %+v, want %q", c.reason, got, c.want)
		}
	}
}
