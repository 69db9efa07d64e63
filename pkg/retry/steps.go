package retry

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// queueLabel has Kueue run a Job once its queue has room. Kueue resumes such a Job at any time, so the label is added last.
const queueLabel = "kueue.x-k8s.io/queue-name"

// multiKueue is the managedBy of Jobs that Kueue runs in other clusters, where it creates them from their specs.
const multiKueue = "kueue.x-k8s.io/multikueue"

// Steps are what makes a created retry run only its indexes: write the status, then resume.
type Steps struct {
	// Completed are the indexes that count as completed.
	Completed indexset.Set
	// Parallelism is that of the Job when it runs.
	Parallelism int32
	// Queue is the queue of Kueue that resumes the Job, "" for none: then it is resumed here.
	Queue string
}

// StatusPatch returns the merge patch of the status. The API server refuses it for another Job of the name, which may
// have begun to run.
func (s *Steps) StatusPatch(uid types.UID) []byte {
	return mustMarshal(map[string]any{"metadata": map[string]any{"uid": uid}, "status": map[string]any{
		"completedIndexes": s.Completed.String(), "succeeded": s.Completed.Len(), "uncountedTerminatedPods": map[string]any{},
	}})
}

// operation is one of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// ResumePatch returns the JSON patch that has the Job run. It fails if the Job is another, or its status is not that of
// StatusPatch.
func (s *Steps) ResumePatch(uid types.UID) []byte {
	patch := []operation{
		{"test", "/metadata/uid", uid},
		{"test", "/status/completedIndexes", s.Completed.String()},
		{"remove", "/metadata/annotations/" + escape(PendingAnnotation), nil},
		{"replace", "/spec/parallelism", s.Parallelism},
	}
	if s.Queue != "" {
		return mustMarshal(append(patch, operation{"add", "/metadata/labels/" + escape(queueLabel), s.Queue}))
	}
	return mustMarshal(append(patch, operation{"replace", "/spec/suspend", false}))
}

// escape makes one token of a JSON pointer (RFC 6901).
func escape(token string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(token) }

func mustMarshal(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("a patch of plain values: %v", err))
	}
	return data
}
