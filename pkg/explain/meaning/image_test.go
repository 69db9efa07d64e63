package meaning

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

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
		assert.Equal(t, troubleOf(OfImage(c.reason, c.message)).Kind, c.want, c.reason)
	}
}
