package meaning

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The catalog has the messages about images and their meanings.
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

// Requirements: PND-03
func TestInvalidNameOfAnImageHasAFault(t *testing.T) {
	for image, want := range map[string]string{
		"acme.io/app:${TAG}": "nothing replaced the placeholder ${TAG}", "https://acme.io/app:1": "without https://", "acme.io/Team/App:1": "in lowercase",
		"acme.io/app:": "its tag is empty", "acme.io/app: 1": "without spaces", "acme.io/app:1.19+": "its tag 1.19+ is the version of the cluster", "acme.io:5000/app:1": "", "acme.io/app:2.4e+06": "put the tag in quotes", "docker-pullable://acme.io/app:1": "without docker-pullable://",
	} {
		assert.Contains(t, NameFault(image), want, image)
	}
}
