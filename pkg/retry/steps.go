package retry

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// queueLabel makes Kueue run a Job once its queue has quota. Kueue resumes such a Job at any time, so the label is
// added last.
const queueLabel = "kueue.x-k8s.io/queue-name"

// multiKueue is the managedBy of Jobs that Kueue creates in other clusters from their specs.
const multiKueue = "kueue.x-k8s.io/multikueue"

// Steps make a created retry run only its indexes: write the status, then resume.
type Steps struct {
	// Completed are the indexes that count as completed.
	Completed indexset.Set
	// Parallelism is the parallelism of the resumed Job.
	Parallelism int32
	// Queue is the Kueue queue that resumes the Job, "" for none: then ResumePatch resumes it.
	Queue string
}

// StatusPatch returns the merge patch of the status. It fails for another Job of the same name, which may be running.
func (s *Steps) StatusPatch(uid types.UID) []byte {
	return mustMarshal(map[string]any{"metadata": map[string]any{"uid": uid}, "status": map[string]any{
		"completedIndexes": s.Completed.String(), "succeeded": s.Completed.Len(), "uncountedTerminatedPods": map[string]any{},
	}})
}

// ResumePatch returns the JSON patch that makes the Job run. It fails for another Job, or if the status differs from
// StatusPatch.
func (s *Steps) ResumePatch(uid types.UID) []byte {
	// escape escapes one token of a JSON pointer (RFC 6901).
	escape := strings.NewReplacer("~", "~0", "/", "~1").Replace
	patch := []jsonOperation{
		{"test", "/metadata/uid", uid},
		{"test", "/status/completedIndexes", s.Completed.String()},
		{"remove", "/metadata/annotations/" + escape(PendingAnnotation), nil},
		{"replace", "/spec/parallelism", s.Parallelism},
	}
	if s.Queue != "" {
		return mustMarshal(append(patch, jsonOperation{"add", "/metadata/labels/" + escape(queueLabel), s.Queue}))
	}
	return mustMarshal(append(patch, jsonOperation{"replace", "/spec/suspend", false}))
}

func mustMarshal(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("a patch of plain values: %v", err))
	}
	return data
}
